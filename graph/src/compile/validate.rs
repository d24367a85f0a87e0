use smallvec::SmallVec;

use crate::{
    access::{PassKind, Target, Use},
    compile::lifetime::Lives,
    decl::{Declarations, PassDecl, UseDecl},
    error::GraphError,
    limits::Limits,
};

/// Mistakes that show in one pass or one resource alone, whatever the others do.
pub(super) fn validate(decl: &Declarations, limits: &Limits) -> Vec<GraphError> {
    let mut errors = decl.errors.clone();
    for pass in &decl.passes {
        kinds(decl, pass, &mut errors);
        mixed_use(decl, pass, &mut errors);
        imported_usage(decl, pass, &mut errors);
        attachments(decl, pass, &mut errors);
    }
    buffer_sizes(decl, limits, &mut errors);
    texture_sizes(decl, limits, &mut errors);
    exports(decl, &mut errors);
    errors
}

/// Only now is it known how much of a pack is left.
pub(super) fn pack_sizes(decl: &Declarations, limits: &Limits, lives: &Lives, errors: &mut Vec<GraphError>) {
    for buffer in &lives.buffers {
        let storage = &decl.storages[buffer.storage as usize];
        if storage.is_pack {
            let bound = whole_pack_is_bound(decl, buffer.storage);
            let (limit, limit_name) = if bound { binding(limits) } else { whole(limits) };
            if buffer.size > limit {
                let (resource, size) = (storage.label.clone(), buffer.size);
                errors.push(GraphError::TooLarge { resource, size, limit, limit_name });
            }
        }
    }
}

fn whole_pack_is_bound(decl: &Declarations, storage: u32) -> bool {
    let mut uses = decl.passes.iter().flat_map(|pass| &pass.uses);
    uses.any(|u| matches!(u.target, Target::Pack(pack) if decl.packs[pack as usize] == storage))
}

fn kinds(decl: &Declarations, pass: &PassDecl, errors: &mut Vec<GraphError>) {
    for u in &pass.uses {
        if u.usage.allowed_in(pass.kind) {
            continue;
        }
        let (label, resource, usage) = (pass.label.clone(), decl.label_of(u.target), u.usage.name());
        errors.push(if pass.kind == PassKind::Host && !u.usage.writes() {
            GraphError::HostReadsGpu { pass: label, resource, usage }
        } else {
            let cure = homes(u.usage);
            GraphError::WrongPassKind { pass: label, kind: pass.kind, resource, usage, cure }
        });
    }
}

/// The kinds of pass that can have a use.
fn homes(usage: Use) -> &'static str {
    match usage {
        Use::Upload => "a host pass",
        Use::CopySrc | Use::CopyDst => "a transfer pass",
        Use::Vertex | Use::Index | Use::Color | Use::Resolve | Use::Depth | Use::DepthRead => "a raster pass",
        Use::StorageRead | Use::StorageWrite | Use::Uniform | Use::Indirect | Use::Sampled => {
            "a compute or raster pass"
        }
    }
}

/// wgpu tracks whole buffers, so members of one pack count as one here.
fn mixed_use(decl: &Declarations, pass: &PassDecl, errors: &mut Vec<GraphError>) {
    let mut reported: SmallVec<[Target; 2]> = SmallVec::new();
    for (at, a) in pass.uses.iter().enumerate() {
        for b in &pass.uses[at + 1..] {
            let whole = same_memory(decl, a, b).filter(|_| a.usage.writes() != b.usage.writes());
            if let Some(whole) = whole.filter(|whole| !reported.contains(whole)) {
                reported.push(whole);
                let resource = match whole {
                    Target::Buffer(storage) => decl.storages[storage as usize].label.clone(),
                    texture => decl.label_of(texture),
                };
                errors.push(GraphError::ReadAndWrite { pass: pass.label.clone(), resource });
            }
        }
    }
}

/// What two uses share: a storage, as `Buffer(storage)`, or a texture.
fn same_memory(decl: &Declarations, a: &UseDecl, b: &UseDecl) -> Option<Target> {
    match (decl.storage_of(a.target), decl.storage_of(b.target)) {
        (Some(a), Some(b)) => (a == b).then_some(Target::Buffer(a)),
        _ => (a.target == b.target).then_some(a.target),
    }
}

fn imported_usage(decl: &Declarations, pass: &PassDecl, errors: &mut Vec<GraphError>) {
    for u in &pass.uses {
        let Some(storage) = decl.storage_of(u.target) else { continue };
        let Some(buffer) = &decl.storages[storage as usize].imported else { continue };
        let (needs, has) = (u.usage.buffer_usage(), buffer.usage());
        if !has.contains(needs) {
            let (pass, resource, usage) = (pass.label.clone(), decl.label_of(u.target), u.usage.name());
            errors.push(GraphError::MissingUsage { pass, resource, usage, needs, has });
        }
    }
}

fn attachments(decl: &Declarations, pass: &PassDecl, errors: &mut Vec<GraphError>) {
    let mut first: Option<u32> = None;
    for u in &pass.uses {
        let (Target::Texture(index), true) = (u.target, u.usage != Use::Sampled) else { continue };
        let texture = &decl.textures[index as usize];
        let cure = match u.usage {
            Use::Depth | Use::DepthRead => (!texture.desc.format.has_depth_aspect()).then_some("depth"),
            _ => texture.desc.format.is_depth_stencil_format().then_some("colour"),
        };
        let label = || pass.label.clone();
        if let Some(cure) = cure {
            let (pass, resource, format) = (label(), texture.label.clone(), texture.desc.format);
            let usage = u.usage.name();
            errors.push(GraphError::AttachmentFormat { pass, resource, format, usage, cure });
        }
        let reference = &decl.textures[*first.get_or_insert(index) as usize];
        let mut expected = reference.desc.shape();
        if u.usage == Use::Resolve {
            expected.samples = 1;
        }
        let found = texture.desc.shape();
        if found != expected {
            let (pass, resource, other) = (label(), texture.label.clone(), reference.label.clone());
            errors.push(GraphError::AttachmentMismatch { pass, resource, found, other, expected });
        }
    }
}

fn buffer_sizes(decl: &Declarations, limits: &Limits, errors: &mut Vec<GraphError>) {
    for storage in &decl.storages {
        for index in storage.members.clone() {
            let value = &decl.values[index as usize];
            let used_as = |usage| is_used_as(decl, index, usage);
            let (limit, limit_name) = if used_as(wgpu::BufferUsages::UNIFORM) {
                (limits.max_uniform_binding, "max_uniform_buffer_binding_size")
            } else if used_as(wgpu::BufferUsages::STORAGE) {
                binding(limits)
            } else if storage.imported.is_none() {
                whole(limits)
            } else {
                continue;
            };
            if value.size > limit {
                let (resource, size) = (value.label.clone(), value.size);
                errors.push(GraphError::TooLarge { resource, size, limit, limit_name });
            }
        }
    }
}

/// The least of the limits that a storage binding has to respect.
fn binding(limits: &Limits) -> (u64, &'static str) {
    let binding = (limits.max_storage_binding, "max_storage_buffer_binding_size");
    if binding.0 <= limits.max_buffer_size { binding } else { whole(limits) }
}

fn whole(limits: &Limits) -> (u64, &'static str) {
    (limits.max_buffer_size, "max_buffer_size")
}

/// Whether any value in the bytes of `member` is bound for itself with `usage`.
fn is_used_as(decl: &Declarations, member: u32, usage: wgpu::BufferUsages) -> bool {
    decl.passes.iter().flat_map(|pass| &pass.uses).any(|u| {
        let same = matches!(u.target, Target::Buffer(v) if decl.values[v as usize].member == member);
        same && u.usage.buffer_usage().intersects(usage)
    })
}

fn texture_sizes(decl: &Declarations, limits: &Limits, errors: &mut Vec<GraphError>) {
    for texture in &decl.textures {
        let side = texture.desc.size.width.max(texture.desc.size.height);
        if side > limits.max_texture_side {
            errors.push(GraphError::TooLarge {
                resource: texture.label.clone(),
                size: side.into(),
                limit: limits.max_texture_side.into(),
                limit_name: "max_texture_dimension_2d",
            });
        }
    }
}

fn exports(decl: &Declarations, errors: &mut Vec<GraphError>) {
    for value in decl.values.iter().filter(|value| value.exported) {
        let resource = value.label.clone();
        if let Some(pass) = value.modifier.filter(|&pass| decl.passes[pass as usize].enabled) {
            let pass = decl.pass_label(pass);
            errors.push(GraphError::ExportOverwritten { resource, pass });
        } else if value.writer.is_none() && decl.storages[value.storage as usize].imported.is_none() {
            errors.push(GraphError::ExportWithoutWriter { resource });
        }
    }
}
