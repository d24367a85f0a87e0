use crate::{
    access::{Target, Use},
    compile::lifetime::{Lives, aligned},
    decl::{Declarations, DepthDecl, PassDecl, TextureDecl},
    plan::{ColorOps, DepthOps, PlannedPass, PlannedUse, UploadBlock},
};

/// Upload blocks start where any plain type may be written.
const UPLOAD_ALIGNMENT: u64 = 16;

pub(super) struct Passes {
    pub(super) passes: Vec<PlannedPass>,
    pub(super) uses: Vec<PlannedUse>,
    /// Bytes of one staging buffer that holds every upload block.
    pub(super) upload_bytes: u64,
    /// By texture: whether nothing of it has to be in memory between passes.
    pub(super) memoryless: Vec<bool>,
}

/// The passes in order, with load and store operations derived from who comes before and after.
pub(super) fn passes(decl: &Declarations, order: &[u32], lives: &Lives) -> Passes {
    let mut result = Passes {
        passes: Vec::with_capacity(order.len()),
        uses: Vec::with_capacity(order.len() * 4),
        upload_bytes: 0,
        memoryless: vec![true; decl.textures.len()],
    };
    for &index in order {
        let pass = &decl.passes[index as usize];
        let first = result.uses.len() as u32;
        result.uses.extend(pass.uses.iter().map(|u| PlannedUse { target: u.target, usage: u.usage }));
        let (bytes_read, bytes_written) = traffic(decl, pass, lives);
        result.passes.push(PlannedPass {
            label: pass.label.clone(),
            kind: pass.kind,
            declared: index,
            bytes_read,
            bytes_written,
            color: Vec::new(),
            depth: None,
            uploads: uploads(decl, pass, lives, &mut result.upload_bytes),
            uses: first..result.uses.len() as u32,
        });
    }
    attachments(decl, &mut result);
    result
}

/// Walks back from the end of the frame, where only what outlives it is still wanted.
fn attachments(decl: &Declarations, result: &mut Passes) {
    if decl.textures.is_empty() {
        return;
    }
    // The side of a history that is read now is what the next frame reads too if this one does not fill the other.
    let is_wanted = |texture: &TextureDecl| !texture.home.is_transient();
    let mut wanted: Vec<bool> = decl.textures.iter().map(is_wanted).collect();
    for planned in result.passes.iter_mut().rev() {
        let pass = &decl.passes[planned.declared as usize];
        let color = pass.color.iter().map(|color| ColorOps {
            texture: color.texture,
            resolve: color.resolve,
            ops: operations(color.clear, wanted[color.texture as usize]),
        });
        planned.color = color.collect();
        planned.depth = pass.depth.map(|depth| depth_ops(decl, depth, wanted[depth.texture as usize]));
        let textures = pass.uses.iter().filter_map(|u| match u.target {
            Target::Texture(texture) => Some((texture as usize, u.usage)),
            _ => None,
        });
        for (texture, usage) in textures.clone() {
            let kept = wanted[texture] || pass.loads(texture as u32);
            result.memoryless[texture] &= matches!(usage, Use::Color | Use::Depth) && !kept;
        }
        for (texture, _) in textures.clone().filter(|(_, usage)| usage.writes()) {
            wanted[texture] = pass.loads(texture as u32);
        }
        for (texture, _) in textures.filter(|(_, usage)| !usage.writes()) {
            wanted[texture] = true;
        }
    }
}

fn depth_ops(decl: &Declarations, depth: DepthDecl, wanted: bool) -> DepthOps {
    let DepthDecl { texture, clear, read_only } = depth;
    if read_only {
        return DepthOps { texture, depth: None, stencil: None };
    }
    let has_stencil = decl.textures[texture as usize].desc.format.has_stencil_aspect();
    DepthOps {
        texture,
        depth: Some(operations(clear, wanted)),
        stencil: has_stencil.then(|| operations(clear.map(|_| 0), wanted)),
    }
}

fn operations<V>(clear: Option<V>, keep: bool) -> wgpu::Operations<V> {
    wgpu::Operations {
        load: clear.map_or(wgpu::LoadOp::Load, wgpu::LoadOp::Clear),
        store: if keep { wgpu::StoreOp::Store } else { wgpu::StoreOp::Discard },
    }
}

/// Bytes of buffers that a pass may read and write.
fn traffic(decl: &Declarations, pass: &PassDecl, lives: &Lives) -> (u64, u64) {
    let (mut read, mut written) = (0, 0);
    for u in &pass.uses {
        let size = |value: u32| lives.values[value as usize].map_or(0, |place| place.size);
        let bytes = match u.target {
            Target::Buffer(value) => size(value),
            Target::Pack(_) => decl.touched(u.target).map(size).sum(),
            Target::Texture(_) | Target::Unknown => continue,
        };
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
