use smallvec::SmallVec;

use crate::{
    access::{Target, Use},
    compile::lifetime::{Lives, aligned},
    decl::{Declarations, DepthDecl, PassDecl},
    plan::{ColorOps, DepthOps, PlannedPass, UploadBlock},
};

/// Upload blocks start where any plain type may be written.
const UPLOAD_ALIGNMENT: u64 = 16;

/// The passes in order, with load and store operations derived from who comes before and after.
pub(super) fn passes(decl: &Declarations, order: &[u32], lives: &Lives) -> Vec<PlannedPass> {
    let mut upload_end = 0;
    let planned = order.iter().enumerate().map(|(at, &index)| {
        let pass = &decl.passes[index as usize];
        let (bytes_read, bytes_written) = traffic(decl, pass, lives);
        PlannedPass {
            label: pass.label.clone(),
            kind: pass.kind,
            declared: index,
            bytes_read,
            bytes_written,
            color: color(decl, order, at, pass),
            depth: pass.depth.map(|depth| depth_ops(decl, order, at, depth)),
            uploads: uploads(decl, pass, lives, &mut upload_end),
        }
    });
    planned.collect()
}

pub(super) fn upload_bytes(passes: &[PlannedPass]) -> u64 {
    let ends = passes.iter().flat_map(|pass| &pass.uploads).map(|block| block.offset + block.size);
    ends.max().unwrap_or(0)
}

fn color(decl: &Declarations, order: &[u32], at: usize, pass: &PassDecl) -> SmallVec<[ColorOps; 2]> {
    let ops = pass.color.iter().map(|color| ColorOps {
        texture: color.texture,
        resolve: color.resolve,
        ops: operations(color.clear, is_seen_later(decl, order, at, color.texture)),
    });
    ops.collect()
}

fn depth_ops(decl: &Declarations, order: &[u32], at: usize, depth: DepthDecl) -> DepthOps {
    let DepthDecl { texture, clear, read_only } = depth;
    if read_only {
        return DepthOps { texture, depth: None, stencil: None };
    }
    let keep = is_seen_later(decl, order, at, texture);
    let has_stencil = decl.textures[texture as usize].desc.format.has_stencil_aspect();
    DepthOps {
        texture,
        depth: Some(operations(clear, keep)),
        stencil: has_stencil.then(|| operations(clear.map(|_| 0), keep)),
    }
}

fn operations<V>(clear: Option<V>, keep: bool) -> wgpu::Operations<V> {
    wgpu::Operations {
        load: clear.map_or(wgpu::LoadOp::Load, wgpu::LoadOp::Clear),
        store: if keep { wgpu::StoreOp::Store } else { wgpu::StoreOp::Discard },
    }
}

/// Whether anybody sees what the pass at `at` leaves in `texture`: the next pass that touches it reads it or
/// draws over it, or nobody touches it and the caller has it.
fn is_seen_later(decl: &Declarations, order: &[u32], at: usize, texture: u32) -> bool {
    let target = Target::Texture(texture);
    let later = order[at + 1..].iter().map(|&pass| &decl.passes[pass as usize]);
    let mut touching = later.filter(|pass| pass.uses.iter().any(|u| u.target == target));
    match touching.next() {
        None => decl.textures[texture as usize].home.outlives_frame(),
        Some(pass) => {
            let mut uses = pass.uses.iter().filter(|u| u.target == target);
            uses.any(|u| !u.usage.writes()) || pass.loads(texture)
        }
    }
}

/// Bytes of buffers that a pass may read and write.
fn traffic(decl: &Declarations, pass: &PassDecl, lives: &Lives) -> (u64, u64) {
    let (mut read, mut written) = (0, 0);
    for u in &pass.uses {
        let places = decl.touched(u.target).filter_map(|value| lives.values[value as usize]);
        let bytes: u64 = places.map(|place| place.size).sum();
        if u.usage.writes() { written += bytes } else { read += bytes }
    }
    (read, written)
}

/// Gives each upload of a host pass its part of the staging buffer.
fn uploads(decl: &Declarations, pass: &PassDecl, lives: &Lives, end: &mut u64) -> Vec<UploadBlock> {
    let targets = pass.uses.iter().filter(|u| u.usage == Use::Upload);
    let placed = targets.flat_map(|u| decl.touched(u.target)).filter_map(|value| {
        let size = lives.values[value as usize]?.size;
        let offset = aligned(*end, UPLOAD_ALIGNMENT);
        *end = offset + size;
        Some(UploadBlock { value, offset, size })
    });
    placed.collect()
}
