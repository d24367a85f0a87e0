//! Twin of wgsl/deform.wgsl: the same tables, the same order, one chunk after another.

use super::{
    blend::{self, Group},
    dual::{self, DualJoint},
    morph::morph_vertex,
    output::{store_a, store_b},
    skin::{Rows, mirrors, skin_tangent, skin_vertex},
    source::{load_vertex, weight_step},
};
use crate::{
    animate::JointMatrix,
    deform::{
        layout::{MorphHeader, VARIANTS, VariantHeader, WorkItem},
        source::{Precision, Streams},
        variant::Variant,
    },
    model::{CHUNK_JOINTS, InfluenceClass, Skinning},
};

/// What all workgroups read.
#[derive(Clone, Copy)]
pub(crate) struct Input<'a> {
    pub(crate) streams: &'a Streams,
    /// The rows of all instances.
    pub(crate) palette: &'a [JointMatrix],
    /// The block as built by `FrameBlock`.
    pub(crate) frame: &'a [[u32; 4]],
}

/// A work item: its kernel variant, and where it lies in the block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Listed {
    variant: u8,
    at: u32,
    out_a: u32,
}

/// Lists every item of a block in the order of the outputs, so that threads can share them out.
pub(crate) fn list(frame: &[[u32; 4]], items: &mut Vec<Listed>) {
    items.clear();
    for (variant, header) in (0u8..).zip(&frame[..VARIANTS]) {
        let header: VariantHeader = bytemuck::cast(*header);
        items.extend((0..header.count).map(|item| {
            let at = header.first + item * 2;
            Listed { variant, at, out_a: work_item(frame, at).out_a }
        }));
    }
    items.sort_unstable_by_key(|item| item.out_a);
}

fn work_item(frame: &[[u32; 4]], at: u32) -> WorkItem {
    bytemuck::cast([frame[at as usize], frame[at as usize + 1]])
}

/// Both outputs from some vertex on.
struct Outputs<'a> {
    a: &'a mut [[u32; 4]],
    b: &'a mut [u32],
    /// The first vertex and the first word.
    start: [u32; 2],
}

/// Works off the items that [`list`] has found. Outputs are sized by the layout that placed the items.
pub(crate) fn deform(input: Input<'_>, items: &[Listed], out_a: &mut [[u32; 4]], out_b: &mut [u32]) {
    share_out(input, items, Outputs { a: out_a, b: out_b, start: [0, 0] });
}

/// Halves the items until few are left: what each half writes does not overlap.
#[cfg(feature = "threads")]
fn share_out(input: Input<'_>, items: &[Listed], outputs: Outputs<'_>) {
    /// Items that are not worth another thread.
    const FEW: usize = 4;
    if items.len() <= FEW {
        return work_off(input, items, outputs);
    }
    let (left, right) = items.split_at(items.len() / 2);
    let boundary = work_item(input.frame, right[0].at);
    let (a, other_a) = outputs.a.split_at_mut((boundary.out_a - outputs.start[0]) as usize);
    let (b, other_b) = outputs.b.split_at_mut((boundary.out_b - outputs.start[1]) as usize);
    let others = Outputs { a: other_a, b: other_b, start: [boundary.out_a, boundary.out_b] };
    let outputs = Outputs { a, b, start: outputs.start };
    rayon::join(|| share_out(input, left, outputs), || share_out(input, right, others));
}

#[cfg(not(feature = "threads"))]
fn share_out(input: Input<'_>, items: &[Listed], outputs: Outputs<'_>) {
    work_off(input, items, outputs);
}

fn work_off(input: Input<'_>, items: &[Listed], mut outputs: Outputs<'_>) {
    for item in items {
        let variant = Variant::from_index(item.variant.into());
        let mut item = work_item(input.frame, item.at);
        item.out_a -= outputs.start[0];
        item.out_b -= outputs.start[1];
        workgroup(input, variant, item, &mut outputs);
    }
}

fn workgroup(input: Input<'_>, variant: Variant, item: WorkItem, outputs: &mut Outputs<'_>) {
    let Input { streams, palette, .. } = input;
    let (precision, class) = (variant.precision, variant.class);
    let listed = (item.counts >> 16) as usize;
    let palette = &palette[item.palette as usize..];
    let list = &streams.tables[item.joint_list as usize..][..listed];
    let kept = list.iter().map(|joint| &palette[*joint as usize]);

    let step = weight_step(precision);
    let is_scaled = is_scaled(variant);
    let may_mirror = class == InfluenceClass::Any || kept.clone().any(|m| mirrors((*m).into(), is_scaled));
    let group = Group { streams, precision, class, palette, extra: item.extra };
    match variant.skinning {
        Skinning::Linear => {
            let mut joints = [JointMatrix::IDENTITY; CHUNK_JOINTS];
            joints.iter_mut().zip(kept).for_each(|(joint, m)| *joint = blend::keep_joint(m, step));
            let blend = |at, i| blend::blend(&group, &joints, at, i);
            deform_vertices(input, variant, item, outputs, may_mirror, blend);
        }
        Skinning::DualQuaternion => {
            let mut joints = [DualJoint::default(); CHUNK_JOINTS];
            joints.iter_mut().zip(kept).for_each(|(joint, m)| *joint = dual::keep_joint(m, step));
            let blend = |at, i| dual::blend(&group, &joints, at, i);
            deform_vertices(input, variant, item, outputs, may_mirror, blend);
        }
    }
}

/// Whether linear parts are scaled before products are taken of them.
fn is_scaled(variant: Variant) -> bool {
    variant.precision == Precision::Exact || variant.class == InfluenceClass::Any
}

fn deform_vertices(
    Input { streams, frame, .. }: Input<'_>,
    variant: Variant,
    item: WorkItem,
    outputs: &mut Outputs<'_>,
    may_mirror: bool,
    blend: impl Fn(u32, u32) -> Rows,
) {
    let precision = variant.precision;
    let is_scaled = is_scaled(variant);
    let morphs: Option<MorphHeader> = variant.morph.then(|| bytemuck::cast(frame[item.morph as usize]));
    let morphs = morphs.filter(|morphs| morphs.count > 0);
    for i in 0..item.counts & 0xffff {
        let at = item.source + i * precision.stride();
        let mut vertex = load_vertex(streams, precision, variant.class, at);
        if let Some(morphs) = morphs {
            vertex = morph_vertex(streams, frame, precision, vertex, morphs, at);
        }
        let m = blend(at, i);
        let skinned = skin_vertex(m, &vertex, is_scaled, may_mirror);
        store_a(outputs.a, precision, item.out_a + i, &vertex, &skinned);
        let direction = skin_tangent(m, vertex.tangent, is_scaled);
        store_b(outputs.b, precision, item.out_b + i * precision.words_b(), &vertex, &skinned, direction);
    }
}
