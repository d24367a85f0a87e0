//! Mapped upload memory as plain slices, for writers that fill it from many threads.
#![allow(unsafe_code, reason = "wgpu hands mapped memory out as write-only, element by element")]

use bytemuck::Pod;

/// Whole elements of type `T` at the start of `memory`; `None` where it is not aligned for them.
///
/// Write to it, and do not read: the memory may be uncached, and holds what an earlier upload left there.
pub(crate) fn elements<'m, T: Pod>(memory: &'m mut wgpu::WriteOnly<'_, [u8]>) -> Option<&'m mut [T]> {
    let bytes = memory.len();
    let start = memory.as_raw_element_ptr().cast::<T>();
    if size_of::<T>() == 0 || !start.is_aligned() {
        return None;
    }
    // SAFETY: `start` points to `bytes` bytes that `memory` has exclusive access to, for as long as it is borrowed
    // here; it is aligned for `T`, and the elements lie inside. The type asks not to be turned into `&mut`, because
    // such a reference lets compilers invent reads, and reads of mapped memory may be slow. They are not unsound: it is
    // memory of the process (of wgpu 30: the driver's mapping, or a copy on the web), which the GPU leaves alone until
    // it is unmapped and which wgpu has zeroed before it is first mapped. Any bits are a `T`, and none are padding.
    Some(unsafe { std::slice::from_raw_parts_mut(start.as_ptr(), bytes / size_of::<T>()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_elements_are_written_in_place() {
        let mut words = [0u32; 5];
        let mut memory = wgpu::WriteOnly::from_mut(bytemuck::cast_slice_mut::<u32, u8>(&mut words));
        let pairs: &mut [[u32; 2]] = elements(&mut memory).expect("aligned");
        pairs.copy_from_slice(&[[1, 2], [3, 4]]);
        assert_eq!(words, [1, 2, 3, 4, 0]);
    }

    #[test]
    fn misaligned_memory_is_none() {
        let mut words = [0u32; 4];
        let mut memory = wgpu::WriteOnly::from_mut(bytemuck::cast_slice_mut::<u32, u8>(&mut words));
        assert!(elements::<u32>(&mut memory.slice(1..)).is_none());
        assert!(elements::<u32>(&mut memory.slice(4..)).is_some());
    }
}
