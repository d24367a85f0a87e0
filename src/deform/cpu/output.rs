//! Twin of wgsl/output.wgsl.

use super::skin::Skinned;
use crate::deform::{
    codec::{oct_encode, oct_encode_signed},
    layout::NO_OUTPUT,
    source::Precision,
};

pub(super) fn store_a(out_a: &mut [[u32; 4]], start: u32, i: u32, skinned: &Skinned) {
    if start == NO_OUTPUT {
        return;
    }
    let v = skinned.vertex;
    let [x, y, z] = v.position.to_array().map(f32::to_bits);
    out_a[(start + i) as usize] = [x, y, z, oct_encode(v.normal)];
}

pub(super) fn store_b(out_b: &mut [u32], precision: Precision, start: u32, i: u32, skinned: &Skinned) {
    if start == NO_OUTPUT {
        return;
    }
    let v = skinned.vertex;
    match precision {
        Precision::Exact => {
            let at = (start + i * 8) as usize;
            let ([nx, ny, nz], [tx, ty, tz]) = (v.normal.to_array(), v.tangent.to_array());
            let words = [nx, ny, nz, tx, ty, tz, v.handedness, skinned.orientation].map(f32::to_bits);
            out_b[at..at + 8].copy_from_slice(&words);
        }
        Precision::Packed => {
            out_b[(start + i) as usize] = oct_encode_signed(v.tangent, v.handedness * skinned.orientation);
        }
    }
}
