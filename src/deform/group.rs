//! What one set of bindings reaches, and how instances are shared out over several sets where that is not enough.

use super::{
    DeformError,
    cast::SourcePart,
    frame::{Job, PartOutput},
    layout::HEADERS,
    output::BYTES_A,
    source::Precision,
};
use crate::animate::JointMatrix;

/// Bytes that one binding, and the buffer behind it, may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reach {
    bytes: u64,
    /// Which limit that is, in `wgpu::Limits`.
    name: &'static str,
}

impl Reach {
    /// Of memory that no device limits.
    pub(crate) const UNLIMITED: Self = Self { bytes: u64::MAX, name: "none" };

    #[cfg(feature = "gpu")]
    pub(crate) fn of(limits: &wgpu::Limits) -> Self {
        if limits.max_storage_buffer_binding_size <= limits.max_buffer_size {
            Self { bytes: limits.max_storage_buffer_binding_size, name: "max_storage_buffer_binding_size" }
        } else {
            Self { bytes: limits.max_buffer_size, name: "max_buffer_size" }
        }
    }

    #[cfg(feature = "gpu")]
    pub(crate) fn bytes(self) -> u64 {
        self.bytes
    }

    /// Refuses what is beyond it, with the numbers.
    pub(crate) fn check(self, what: &'static str, bytes: u64) -> Result<(), DeformError> {
        let Self { bytes: limit, name } = self;
        if bytes > limit { Err(DeformError::OverLimit { what, bytes, limit, name }) } else { Ok(()) }
    }
}

impl Default for Reach {
    fn default() -> Self {
        Self::UNLIMITED
    }
}

/// Bytes that an instance takes in the four bindings that hold something of every instance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Needs {
    pub(crate) palettes: u64,
    pub(crate) frame: u64,
    pub(crate) out_a: u64,
    pub(crate) out_b: u64,
}

impl Needs {
    /// Of an instance with these parts.
    pub(crate) fn of(parts: &[SourcePart], rows: usize, precision: Precision) -> Self {
        let mut needs = Self { palettes: (rows * size_of::<JointMatrix>()) as u64, ..Self::default() };
        for part in parts {
            let vertices = u64::from(part.vertices);
            needs.frame += 16 * part.words() as u64;
            needs.out_a += (vertices * BYTES_A).next_multiple_of(PART_ALIGNMENT);
            needs.out_b += (vertices * u64::from(precision.words_b()) * 4).next_multiple_of(PART_ALIGNMENT);
        }
        needs
    }

    fn plus(self, other: Self) -> Self {
        Self {
            palettes: self.palettes + other.palettes,
            frame: self.frame + other.frame,
            out_a: self.out_a + other.out_a,
            out_b: self.out_b + other.out_b,
        }
    }

    fn check(self, reach: Reach) -> Result<(), DeformError> {
        reach.check("palettes of an instance", self.palettes)?;
        reach.check("work items and morph records of an instance", self.frame)?;
        reach.check("deformed positions and normals of an instance", self.out_a)?;
        reach.check("deformed tangents of an instance", self.out_b)
    }
}

/// Parts start at multiples of this many bytes, so that each can be bound as storage.
pub(crate) const PART_ALIGNMENT: u64 = 256;

/// Shares instances out in their order: a group takes what its bindings reach.
#[derive(Debug)]
pub(crate) struct Sharing {
    reach: Reach,
    /// Of the group that is being filled.
    page: Option<usize>,
    taken: Needs,
}

impl Sharing {
    pub(crate) fn new(reach: Reach) -> Self {
        Self { reach, page: None, taken: Needs::default() }
    }

    /// Whether the next instance, whose vertices lie in `page`, starts a group. Fails where one instance alone is
    /// too large.
    pub(crate) fn starts_group(&mut self, page: usize, needs: Needs) -> Result<bool, DeformError> {
        let alone = Needs { frame: needs.frame + 16 * HEADERS as u64, ..needs };
        let together = self.taken.plus(needs);
        let joins = self.page == Some(page) && together.check(self.reach).is_ok();
        if !joins {
            alone.check(self.reach)?;
        }
        self.page = Some(page);
        self.taken = if joins { together } else { alone };
        Ok(!joins)
    }
}

/// Instances that are deformed with one set of bindings.
#[derive(Clone, Debug, Default)]
pub(crate) struct Group {
    /// Where the source vertices of all of them lie.
    pub(crate) page: usize,
    /// Their palettes follow each other.
    pub(crate) jobs: Vec<Job>,
    pub(crate) outputs: Vec<PartOutput>,
    /// Size of output A in `vec4`s and of output B in words.
    pub(crate) len_a: u32,
    pub(crate) len_b: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn needs(palettes: u64) -> Needs {
        Needs { palettes, frame: 32, out_a: 256, out_b: 256 }
    }

    fn reach(bytes: u64) -> Reach {
        Reach { bytes, name: "a limit" }
    }

    #[test]
    fn a_group_takes_exactly_what_its_bindings_reach() {
        let mut sharing = Sharing::new(reach(1000));
        let starts = [400, 600, 1, 999, 1].map(|bytes| sharing.starts_group(0, needs(bytes)));
        assert_eq!(starts, [Ok(true), Ok(false), Ok(true), Ok(false), Ok(true)]);
    }

    #[test]
    fn instances_of_another_page_start_a_group() {
        let mut sharing = Sharing::new(Reach::UNLIMITED);
        let starts = [0, 0, 1, 0].map(|page| sharing.starts_group(page, needs(1)));
        assert_eq!(starts, [Ok(true), Ok(false), Ok(true), Ok(true)]);
    }

    #[test]
    fn an_instance_that_is_too_large_alone_is_refused_with_the_numbers() {
        let error = Sharing::new(reach(1000)).starts_group(0, needs(1001)).expect_err("too large");
        let expected = DeformError::OverLimit {
            what: "palettes of an instance",
            bytes: 1001,
            limit: 1000,
            name: "a limit",
        };
        assert_eq!(error, expected);
    }
}
