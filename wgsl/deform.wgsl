// Morph, then skin, every vertex of every chunk of one kernel variant: one dispatch for all instances of
// all meshes. A workgroup takes one work item; the grid is folded, so any number of items fits.
// VARIANT is this variant's place in the frame block's headers.
import constants::VARIANT;
import package::bindings::{frame, palette, tables};
import package::blend::{keep_none, may_mirror};
@if(!dual) import package::blend::{blend, keep_joint};
@if(dual) import package::dual::{blend, keep_joint};
import package::layout::{MorphHeader, VariantHeader, WorkItem, NO_OUTPUT};
import package::morph::{morph_header, morph_vertex};
import package::output::{store_a, store_b};
import package::skin::{skin_tangent, skin_vertex};
import package::source::{load_vertex, STRIDE};

const WORKGROUP: u32 = 128u;

fn variant_header() -> VariantHeader {
    let word = frame[VARIANT];
    return VariantHeader(word.x, word.y, word.zw);
}

fn work_item(at: u32) -> WorkItem {
    let a = frame[at];
    let b = frame[at + 1u];
    return WorkItem(a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w);
}

@compute @workgroup_size(128)
fn deform(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let header = variant_header();
    let index = group.x + group.y * groups.x;
    if index >= header.count {
        return;
    }
    let item = work_item(header.first + index * 2u);
    let vertices = item.counts & 0xffffu;
    let listed = item.counts >> 16u;

    if lane == 0u {
        keep_none();
    }
    workgroupBarrier();
    for (var j = lane; j < listed; j += WORKGROUP) {
        keep_joint(j, palette[item.palette + tables[item.joint_list + j]]);
    }
    workgroupBarrier();

    @if(morph) let morphs = morph_header(item.morph);
    @if(!morph) let morphs = MorphHeader(0u, 0u, 0u, 0u);
    let into = Into(item.out_a != NO_OUTPUT, item.out_b != NO_OUTPUT, may_mirror());
    // Most often a loop without branches.
    if into.a && into.b && !into.may_mirror {
        for (var i = lane; i < vertices; i += WORKGROUP) {
            deform_vertex(item, morphs, i, Into(true, true, false));
        }
    } else {
        for (var i = lane; i < vertices; i += WORKGROUP) {
            deform_vertex(item, morphs, i, into);
        }
    }
}

// What a vertex takes.
struct Into {
    a: bool,
    b: bool,
    may_mirror: bool,
}

fn deform_vertex(item: WorkItem, morphs: MorphHeader, i: u32, into: Into) {
    let at = item.source + i * STRIDE;
    var vertex = load_vertex(at);
    @if(morph) {
        if morphs.count != 0u {
            vertex = morph_vertex(vertex, morphs, at);
        }
    }
    let m = blend(at, i, item.palette, item.extra);
    let skinned = skin_vertex(m, vertex, into.may_mirror);
    if into.a {
        store_a(item.out_a + i, vertex, skinned);
    }
    if into.b {
        store_b(item.out_b, i, vertex, skinned, skin_tangent(m, vertex.tangent));
    }
}
