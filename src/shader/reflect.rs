//! What a valid module declares: entry points and bindings.

use naga::valid::ModuleInfo;
use naga::{
    AddressSpace, GlobalVariable, Handle, ImageClass, ImageDimension, Module, ScalarKind, ShaderStage,
    StorageAccess, TypeInner,
};

use super::ShaderError;
use crate::shaders::{BindingKind, Dimension, Stage, Stages, TextureSample};

/// An entry point of a valid module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryPoint {
    /// The function's name.
    pub name: String,
    /// The stage it is for.
    pub stage: Stage,
    /// `@workgroup_size`, zeros unless the stage is compute.
    pub workgroup_size: [u32; 3],
    /// Bytes of the workgroup variables that it uses, each rounded up to 16 as WebGPU counts.
    pub workgroup_bytes: u32,
}

/// A resource that some entry point of a valid module uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    /// `@group`
    pub group: u32,
    /// `@binding`
    pub binding: u32,
    /// The variable's name.
    pub name: String,
    /// What is bound.
    pub kind: BindingKind,
    /// Buffers: the fewest bytes that may be bound, with one element of a runtime-sized array. Others: 0.
    pub min_size: u64,
    /// The stages that use it.
    pub stages: Stages,
}

pub(super) fn entry_points(
    shader: &str,
    module: &Module,
    info: &ModuleInfo,
) -> Result<Vec<EntryPoint>, ShaderError> {
    let refuse = |name: &str, what| unsupported(shader, name, what);
    let reflect = |(index, entry): (usize, &naga::EntryPoint)| {
        if entry.workgroup_size_overrides.is_some_and(|sizes| sizes.iter().any(Option::is_some)) {
            return Err(refuse(&entry.name, "an entry point whose workgroup size an `override` sets"));
        }
        let uses = info.get_entry_point(index);
        let workgroup = module.global_variables.iter().filter(|&(handle, variable)| {
            variable.space == AddressSpace::WorkGroup && !uses[handle].is_empty()
        });
        let sizes = workgroup.map(|(_, variable)| {
            let size = module.types[variable.ty].inner.try_size(module.to_ctx());
            size.unwrap_or(u32::MAX).checked_next_multiple_of(16).unwrap_or(u32::MAX)
        });
        Ok(EntryPoint {
            name: entry.name.clone(),
            stage: stage(entry.stage)
                .ok_or_else(|| refuse(&entry.name, "an entry point of a native stage"))?,
            workgroup_size: entry.workgroup_size,
            workgroup_bytes: sizes.fold(0, u32::saturating_add),
        })
    };
    module.entry_points.iter().enumerate().map(reflect).collect()
}

pub(super) fn bindings(
    shader: &str,
    module: &Module,
    info: &ModuleInfo,
) -> Result<Vec<Binding>, ShaderError> {
    let mut found = Vec::new();
    for (handle, variable) in module.global_variables.iter() {
        let Some(at) = variable.binding else { continue };
        let stages = stages(module, info, handle);
        if stages == Stages::default() {
            continue;
        }
        let name = variable.name.clone().unwrap_or_default();
        let kind = kind(module, info, handle, variable).map_err(|what| unsupported(shader, &name, what))?;
        let is_buffer = matches!(kind, BindingKind::Uniform | BindingKind::Storage { .. });
        let size = module.types[variable.ty].inner.try_size(module.to_ctx()).filter(|_| is_buffer);
        let min_size = size.unwrap_or(0).into();
        found.push(Binding { group: at.group, binding: at.binding, name, kind, min_size, stages });
    }
    found.sort_by_key(|binding| (binding.group, binding.binding));
    Ok(found)
}

fn unsupported(shader: &str, declaration: &str, what: &'static str) -> ShaderError {
    ShaderError::Unsupported { shader: shader.into(), declaration: declaration.into(), what }
}

fn stage(stage: ShaderStage) -> Option<Stage> {
    match stage {
        ShaderStage::Vertex => Some(Stage::Vertex),
        ShaderStage::Fragment => Some(Stage::Fragment),
        ShaderStage::Compute => Some(Stage::Compute),
        _ => None,
    }
}

fn stages(module: &Module, info: &ModuleInfo, handle: Handle<GlobalVariable>) -> Stages {
    let mut stages = Stages::default();
    for (index, entry) in module.entry_points.iter().enumerate() {
        if !info.get_entry_point(index)[handle].is_empty() {
            match stage(entry.stage) {
                Some(Stage::Vertex) => stages.vertex = true,
                Some(Stage::Fragment) => stages.fragment = true,
                Some(Stage::Compute) => stages.compute = true,
                None => {}
            }
        }
    }
    stages
}

fn kind(
    module: &Module,
    info: &ModuleInfo,
    handle: Handle<GlobalVariable>,
    variable: &GlobalVariable,
) -> Result<BindingKind, &'static str> {
    match (variable.space, &module.types[variable.ty].inner) {
        (AddressSpace::Uniform, _) => Ok(BindingKind::Uniform),
        (AddressSpace::Storage { access }, _) => {
            Ok(BindingKind::Storage { read_only: !access.contains(StorageAccess::STORE) })
        }
        (_, &TypeInner::Sampler { comparison }) => Ok(BindingKind::Sampler { comparison }),
        (_, &TypeInner::Image { dim, arrayed, class }) => {
            let filterable = (0..module.entry_points.len()).any(|index| {
                info.get_entry_point(index).sampling_set.iter().any(|pair| pair.image == handle)
            });
            let (sample, multisampled) = match class {
                ImageClass::Sampled { kind: ScalarKind::Sint, multi } => (TextureSample::Sint, multi),
                ImageClass::Sampled { kind: ScalarKind::Uint, multi } => (TextureSample::Uint, multi),
                ImageClass::Sampled { multi, .. } => (TextureSample::Float { filterable }, multi),
                ImageClass::Depth { multi } => (TextureSample::Depth, multi),
                ImageClass::Storage { .. } => return Err("a storage texture"),
                ImageClass::External => return Err("an external texture"),
            };
            Ok(BindingKind::Texture { sample, dimension: dimension(dim, arrayed), multisampled })
        }
        _ => Err("a binding array or another native resource"),
    }
}

fn dimension(dim: ImageDimension, arrayed: bool) -> Dimension {
    match (dim, arrayed) {
        (ImageDimension::D1, _) => Dimension::D1,
        (ImageDimension::D2, false) => Dimension::D2,
        (ImageDimension::D2, true) => Dimension::D2Array,
        (ImageDimension::D3, _) => Dimension::D3,
        (ImageDimension::Cube, false) => Dimension::Cube,
        (ImageDimension::Cube, true) => Dimension::CubeArray,
    }
}
