//! WebGPU's default limits, which every device offers.

use std::fmt;

use super::{Binding, ShaderError, Validated};
use crate::shaders::{BindingKind, Stage};

// https://gpuweb.github.io/gpuweb/#limits
const BIND_GROUPS: u64 = 4;
const BINDING_NUMBERS: u64 = 1000;
const UNIFORM_BYTES: u64 = 65536;
const WORKGROUP_BYTES: u64 = 16384;
const INVOCATIONS: u64 = 256;
const WORKGROUP_SIZE: [(&str, u64); 3] =
    [("maxComputeWorkgroupSizeX", 256), ("maxComputeWorkgroupSizeY", 256), ("maxComputeWorkgroupSizeZ", 64)];

/// Limits of the resources that the entry points of one stage use together.
type PerStage = (&'static str, u64, fn(&BindingKind) -> bool);
const PER_STAGE: [PerStage; 4] = [
    ("maxStorageBuffersPerShaderStage", 8, |kind| matches!(kind, BindingKind::Storage { .. })),
    ("maxUniformBuffersPerShaderStage", 12, |kind| matches!(kind, BindingKind::Uniform)),
    ("maxSampledTexturesPerShaderStage", 16, |kind| matches!(kind, BindingKind::Texture { .. })),
    ("maxSamplersPerShaderStage", 16, |kind| matches!(kind, BindingKind::Sampler { .. })),
];

/// One limit that a shader exceeds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excess {
    /// WebGPU's name of the limit.
    pub limit: &'static str,
    /// What a default device offers.
    pub allowed: u64,
    /// What the shader needs.
    pub needed: u64,
    /// The entry point, stage or variable that needs it.
    pub by: String,
}

impl fmt::Display for Excess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { limit, allowed, needed, by } = self;
        write!(f, "{limit} is {allowed}, {by} needs {needed}")
    }
}

impl Validated {
    /// Compares the module with WebGPU's default limits.
    ///
    /// Resources count per stage over all entry points of that stage, as they do in a pipeline layout made
    /// from [`Validated::bindings`]. Immediates are no limit here: validation refuses them.
    ///
    /// # Errors
    /// [`ShaderError::Limits`] with every limit exceeded.
    pub fn check_limits(&self) -> Result<(), ShaderError> {
        let mut excesses = Vec::new();
        let mut check = |limit, allowed, needed: u64, by: &dyn Fn() -> String| {
            if needed > allowed {
                excesses.push(Excess { limit, allowed, needed, by: by() });
            }
        };
        for (stage, uses) in STAGES {
            for (limit, allowed, counts) in PER_STAGE {
                let used = self.bindings().iter().filter(|binding| uses(binding) && counts(&binding.kind));
                check(limit, allowed, used.count() as u64, &|| format!("the {stage} stage"));
            }
        }
        for binding in self.bindings() {
            let by = || format!("`{}`", binding.name);
            check("maxBindGroups", BIND_GROUPS, u64::from(binding.group) + 1, &by);
            check("maxBindingsPerBindGroup", BINDING_NUMBERS, u64::from(binding.binding) + 1, &by);
            if binding.kind == BindingKind::Uniform {
                check("maxUniformBufferBindingSize", UNIFORM_BYTES, binding.min_size, &by);
            }
        }
        for entry in self.entry_points().iter().filter(|entry| entry.stage == Stage::Compute) {
            let by = || format!("`{}`", entry.name);
            let size = entry.workgroup_size.map(u64::from);
            check("maxComputeWorkgroupStorageSize", WORKGROUP_BYTES, entry.workgroup_bytes.into(), &by);
            check("maxComputeInvocationsPerWorkgroup", INVOCATIONS, size.iter().product(), &by);
            for ((limit, allowed), needed) in WORKGROUP_SIZE.into_iter().zip(size) {
                check(limit, allowed, needed, &by);
            }
        }
        if excesses.is_empty() {
            return Ok(());
        }
        Err(ShaderError::Limits { shader: self.name.clone(), excesses })
    }
}

type Uses = fn(&Binding) -> bool;
const STAGES: [(&str, Uses); 3] = [
    ("vertex", |binding| binding.stages.vertex),
    ("fragment", |binding| binding.stages.fragment),
    ("compute", |binding| binding.stages.compute),
];
