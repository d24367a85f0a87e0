//! Twin of wgsl/deform.wgsl: the same tables, the same order, one chunk after another.

use super::{
    blend::Group,
    morph::morph_vertex,
    output::{store_a, store_b},
    skin::{skin_tangent, skin_vertex},
    source::load_vertex,
};
use crate::{
    animate::JointMatrix,
    deform::{
        layout::{NO_OUTPUT, VARIANTS, VariantHeader, WorkItem},
        source::{Precision, Streams},
        variant::Variant,
    },
    model::{CHUNK_JOINTS, InfluenceClass},
};

/// Runs every variant of a frame block. `palette` holds all instances' rows, `frame` the block as built
/// by `FrameBlock`, outputs are sized by the same layout. Allocates nothing.
pub(crate) fn deform(
    streams: &Streams,
    palette: &[JointMatrix],
    frame: &[[u32; 4]],
    out_a: &mut [[u32; 4]],
    out_b: &mut [u32],
) {
    for index in 0..VARIANTS {
        let variant = Variant::from_index(index);
        let header: VariantHeader = bytemuck::cast(frame[index]);
        for item in 0..header.count {
            let at = (header.first + item * 2) as usize;
            let item: WorkItem = bytemuck::cast([frame[at], frame[at + 1]]);
            workgroup(streams, palette, frame, variant, item, out_a, out_b);
        }
    }
}

fn workgroup(
    streams: &Streams,
    palette: &[JointMatrix],
    frame: &[[u32; 4]],
    variant: Variant,
    item: WorkItem,
    out_a: &mut [[u32; 4]],
    out_b: &mut [u32],
) {
    let precision = variant.precision;
    let vertices = item.counts & 0xffff;
    let listed = (item.counts >> 16) as usize;
    let palette = &palette[item.palette as usize..];
    let list = &streams.tables[item.joint_list as usize..][..listed];

    let mut joints = [JointMatrix::IDENTITY; CHUNK_JOINTS];
    for (joint, &listed) in joints.iter_mut().zip(list) {
        *joint = palette[listed as usize];
    }

    let group =
        Group { streams, precision, class: variant.class, joints: &joints, palette, extra: item.extra };
    let is_scaled = precision == Precision::Exact || variant.class == InfluenceClass::Any;
    for i in 0..vertices {
        let at = item.source + i * precision.stride();
        let mut vertex = load_vertex(streams, precision, at);
        if variant.morph && item.morph != 0 {
            vertex = morph_vertex(streams, frame, precision, vertex, item.morph, at);
        }
        let m = group.blend(at, i);
        let skinned = skin_vertex(m, &vertex, is_scaled);
        if item.out_a != NO_OUTPUT {
            store_a(out_a, precision, item.out_a + i, &vertex, &skinned);
        }
        if item.out_b != NO_OUTPUT {
            let direction = skin_tangent(m, vertex.tangent, is_scaled);
            store_b(out_b, precision, item.out_b + i * precision.words_b(), &vertex, &skinned, direction);
        }
    }
}
