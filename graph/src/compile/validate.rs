use smallvec::SmallVec;

use crate::{
    access::{PassKind, Target, Use},
    compile::{edges::Edges, lifetime::Lives},
    decl::{Declarations, Home, PassDecl},
    error::GraphError,
    limits::Limits,
};

/// Mistakes that show in one pass or one resource alone, whatever the others do.
pub(super) fn validate(decl: &Declarations, limits: &Limits) -> Vec<GraphError> {
    let mut errors = decl.errors.clone();
    let has_imports = decl.has_imports();
    for pass in &decl.passes {
        kinds(decl, pass, &mut errors);
        mixed_use(decl, pass, &mut errors);
        if has_imports {
            imported_usage(decl, pass, &mut errors);
        }
        attachments(decl, pass, limits, &mut errors);
    }
    buffer_sizes(decl, limits, &mut errors);
    texture_sizes(decl, limits, &mut errors);
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

/// All upload blocks of a frame lie in one staging buffer.
pub(super) fn upload_size(size: u64, limits: &Limits, errors: &mut Vec<GraphError>) {
    let (limit, limit_name) = whole(limits);
    if size > limit {
        let resource = "all upload blocks of the frame".into();
        errors.push(GraphError::TooLarge { resource, size, limit, limit_name });
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
        Use::CopySrc | Use::CopyDst | Use::TextureCopySrc | Use::TextureCopyDst => "a transfer pass",
        Use::Vertex | Use::Index | Use::Color | Use::Resolve | Use::Depth | Use::DepthRead => "a raster pass",
        Use::StorageRead
        | Use::StorageWrite
        | Use::Uniform
        | Use::Indirect
        | Use::Sampled
        | Use::StorageTextureRead
        | Use::StorageTextureWrite
        | Use::StorageTextureModify => "a compute or raster pass",
    }
}

/// wgpu tracks whole buffers, so members of one pack count as one here.
fn mixed_use(decl: &Declarations, pass: &PassDecl, errors: &mut Vec<GraphError>) {
    let mut touched: SmallVec<[(Memory, bool); 16]> =
        pass.uses.iter().filter_map(|u| Some((memory(decl, u.target)?, u.usage.writes()))).collect();
    // Almost every pass is right, and short: looked at without sorting.
    let mixed = |(at, one): (usize, &(Memory, bool))| touched[..at].contains(&(one.0, !one.1));
    if touched.len() <= 16 && !touched.iter().enumerate().any(mixed) {
        return;
    }
    touched.sort_unstable();
    touched.dedup();
    // What is left of one memory is a read, a write, or both.
    for pair in touched.windows(2).filter(|pair| pair[0].0 == pair[1].0) {
        let resource = match pair[0].0 {
            Memory::Storage(storage) => decl.storages[storage as usize].label.clone(),
            Memory::Texture(texture) => decl.textures[texture as usize].label.clone(),
        };
        errors.push(GraphError::ReadAndWrite { pass: pass.label.clone(), resource });
    }
}

/// What wgpu tracks the usage of.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Memory {
    Storage(u32),
    Texture(u32),
}

fn memory(decl: &Declarations, target: Target) -> Option<Memory> {
    match target {
        Target::Texture(texture) => Some(Memory::Texture(texture)),
        target => decl.storage_of(target).map(Memory::Storage),
    }
}

fn imported_usage(decl: &Declarations, pass: &PassDecl, errors: &mut Vec<GraphError>) {
    for u in &pass.uses {
        let Some(storage) = decl.storage_of(u.target) else { continue };
        let Home::External(buffer) = &decl.storages[storage as usize].home else { continue };
        let (needs, has) = (u.usage.buffer_usage(), buffer.usage());
        let is_moved = matches!(
            u.usage,
            Use::StorageRead | Use::StorageWrite | Use::CopySrc | Use::CopyDst | Use::Upload
        );
        if buffer.size() == 0 || (is_moved && !buffer.size().is_multiple_of(wgpu::COPY_BUFFER_ALIGNMENT)) {
            let (pass, resource, usage) = (pass.label.clone(), decl.label_of(u.target), u.usage.name());
            errors.push(GraphError::ImportSize { pass, resource, usage, size: buffer.size() });
        }
        if !has.contains(needs) {
            let (pass, resource, usage) = (pass.label.clone(), decl.label_of(u.target), u.usage.name());
            errors.push(GraphError::MissingUsage { pass, resource, usage, needs, has });
        }
    }
}

fn attachments(decl: &Declarations, pass: &PassDecl, limits: &Limits, errors: &mut Vec<GraphError>) {
    if pass.kind == PassKind::Raster {
        attachment_set(decl, pass, limits, errors);
    }
    let mut first: Option<u32> = None;
    for u in &pass.uses {
        let (Target::Texture(index), true) = (u.target, u.usage.is_attachment()) else { continue };
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

/// What attachments have to be together.
fn attachment_set(decl: &Declarations, pass: &PassDecl, limits: &Limits, errors: &mut Vec<GraphError>) {
    let label = || pass.label.clone();
    if pass.color.is_empty() && pass.depth.is_none() {
        errors.push(GraphError::NoAttachment { pass: label() });
    }
    let (count, limit) = (pass.color.len() as u32, limits.max_color_attachments);
    if count > limit {
        errors.push(GraphError::TooManyAttachments { pass: label(), count, limit });
    }
    for color in &pass.color {
        let Some(into) = color.resolve else { continue };
        let (from, into) = (&decl.textures[color.texture as usize], &decl.textures[into as usize]);
        if from.desc.samples < 2 || from.desc.format != into.desc.format {
            let (resource, into) = (from.label.clone(), into.label.clone());
            errors.push(GraphError::Resolve { pass: label(), resource, into });
        }
    }
    let clear = pass.depth.and_then(|depth| depth.clear);
    if let Some(clear) = clear.filter(|clear| !(0.0..=1.0).contains(clear)) {
        errors.push(GraphError::DepthClear { pass: label(), clear: clear.to_string() });
    }
}

fn buffer_sizes(decl: &Declarations, limits: &Limits, errors: &mut Vec<GraphError>) {
    let usage = usage_by_member(decl);
    for (value, usage) in decl.values.iter().zip(usage) {
        let is_imported = matches!(decl.storages[value.storage as usize].home, Home::External(_));
        let (limit, limit_name) = if usage.contains(wgpu::BufferUsages::UNIFORM) {
            (limits.max_uniform_binding, "max_uniform_buffer_binding_size")
        } else if usage.contains(wgpu::BufferUsages::STORAGE) {
            binding(limits)
        } else if is_imported || value.previous.is_some() {
            continue;
        } else {
            whole(limits)
        };
        if value.size > limit {
            let (resource, size) = (value.label.clone(), value.size);
            errors.push(GraphError::TooLarge { resource, size, limit, limit_name });
        }
    }
}

/// By value that first fills its bytes: how they are used by themselves, not as part of a pack.
fn usage_by_member(decl: &Declarations) -> Vec<wgpu::BufferUsages> {
    let mut usage = vec![wgpu::BufferUsages::empty(); decl.values.len()];
    for u in decl.passes.iter().flat_map(|pass| &pass.uses) {
        if let Target::Buffer(value) = u.target {
            usage[decl.values[value as usize].member as usize] |= u.usage.buffer_usage();
        }
    }
    usage
}

/// The least of the limits that a storage binding has to respect.
fn binding(limits: &Limits) -> (u64, &'static str) {
    let binding = (limits.max_storage_binding, "max_storage_buffer_binding_size");
    if binding.0 <= limits.max_buffer_size { binding } else { whole(limits) }
}

fn whole(limits: &Limits) -> (u64, &'static str) {
    (limits.max_buffer_size, "max_buffer_size")
}

fn texture_sizes(decl: &Declarations, limits: &Limits, errors: &mut Vec<GraphError>) {
    let mut is_storage = vec![false; decl.textures.len()];
    for u in decl.passes.iter().flat_map(|pass| &pass.uses) {
        if let Target::Texture(texture) = u.target {
            is_storage[texture as usize] |= u.usage.texture_usage() == wgpu::TextureUsages::STORAGE_BINDING;
        }
    }
    for (texture, is_storage) in decl.textures.iter().zip(is_storage) {
        let samples = texture.desc.samples;
        if !matches!(samples, 1 | 2 | 4 | 8 | 16) || (is_storage && samples > 1) {
            errors.push(GraphError::Samples { resource: texture.label.clone(), samples, is_storage });
        }
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

/// What is exported has to be there at the end of the frame.
pub(super) fn exports(decl: &Declarations, edges: &Edges, errors: &mut Vec<GraphError>) {
    if !decl.values.iter().any(|value| value.exported) {
        return;
    }
    // By value: a pass that changes it in place, or something that stands for it.
    let mut changed = vec![None; decl.values.len()];
    for value in &decl.values {
        if let (Some(previous), Some(pass)) = (value.previous, value.writer)
            && decl.passes[pass as usize].enabled
        {
            changed[edges.stands_for[previous as usize] as usize] = Some(pass);
        }
    }
    for (value, &stands_for) in decl.values.iter().zip(&edges.stands_for).filter(|(v, _)| v.exported) {
        let resource = value.label.clone();
        let storage = &decl.storages[value.storage as usize];
        let writer = decl.values[stands_for as usize].writer;
        let is_written = writer.is_some_and(|writer| decl.passes[writer as usize].enabled);
        if let Some(pass) = changed[stands_for as usize] {
            errors.push(GraphError::ExportOverwritten { resource, pass: decl.pass_label(pass) });
        } else if !is_written && !storage.home.has_contents() {
            errors.push(GraphError::ExportWithoutWriter { resource });
        } else if let Home::External(buffer) = &storage.home
            && !buffer.usage().contains(storage.extra_usage)
        {
            let (needs, has) = (storage.extra_usage, buffer.usage());
            errors.push(GraphError::ExportUsage { resource, needs, has });
        }
    }
}
