//! Whether all that a replay reads and writes lies inside: a capture may come from anywhere.

use super::{Capture, CaptureError, CapturedGroup, build::each_item};
use crate::{
    deform::{
        cpu::{Four, load_four, load_next_four, load_row},
        layout::{
            ActiveTarget, DELTA_DENSE, DELTA_NORMALS, DELTA_SHORT, DELTA_TANGENTS, HEADERS, MorphHeader,
            VARIANTS, VariantHeader, WorkItem,
        },
        source::{Precision, Streams},
        variant::Variant,
    },
    model::{CHUNK_JOINTS, CHUNK_VERTICES, InfluenceClass},
};

/// Influences of rows of any length, and morph deltas, that all work items together may ask for. Both can be asked for
/// again and again by a file that is small.
const MOST_STEPS: u64 = 1 << 30;

impl Capture {
    /// Refuses what would lead a kernel out of its buffers, or two of its workgroups to the same vertices.
    pub(super) fn check(&self) -> Result<(), CaptureError> {
        let mut steps = 0;
        for (index, (group, output)) in self.groups.iter().zip(&self.recorded.groups).enumerate() {
            let Some(streams) = self.pages.get(group.page as usize) else {
                let (reaches, there) = (u64::from(group.page) + 1, self.pages.len() as u64);
                return Err(CaptureError::OutOfRange { group: index, what: "a page", reaches, there });
            };
            let check = GroupCheck { index, group, streams };
            check.fits("recorded output A", group.len_a.into(), output.0.len())?;
            check.fits("recorded output B", group.len_b.into(), output.1.len())?;
            check.parts()?;
            check.items(&mut steps)?;
            check.outputs_are_apart()?;
        }
        Ok(())
    }
}

struct GroupCheck<'c> {
    index: usize,
    group: &'c CapturedGroup,
    streams: &'c Streams,
}

impl GroupCheck<'_> {
    fn fits(&self, what: &'static str, reaches: u64, there: usize) -> Result<(), CaptureError> {
        let there = there as u64;
        if reaches <= there {
            return Ok(());
        }
        Err(CaptureError::OutOfRange { group: self.index, what, reaches, there })
    }

    fn parts(&self) -> Result<(), CaptureError> {
        for part in &self.group.parts {
            self.fits("a part", part.in_a().end as u64, self.group.len_a as usize)?;
            self.fits("a part's tangents", part.in_b().end as u64, self.group.len_b as usize)?;
        }
        Ok(())
    }

    fn items(&self, steps: &mut u64) -> Result<(), CaptureError> {
        let frame = &self.group.frame;
        self.fits("the headers", HEADERS as u64, frame.len())?;
        for header in &frame[..VARIANTS] {
            let VariantHeader { first, count, .. } = bytemuck::cast(*header);
            if count > 0 {
                self.fits("a list of work items", u64::from(first) + 2 * u64::from(count), frame.len())?;
            }
        }
        for (variant, item) in each_item(frame) {
            self.item(Variant::from_index(variant), &item, steps)?;
            if *steps > MOST_STEPS {
                return Err(CaptureError::TooMuch { most: MOST_STEPS });
            }
        }
        Ok(())
    }

    fn item(&self, variant: Variant, item: &WorkItem, steps: &mut u64) -> Result<(), CaptureError> {
        let Self { group, streams, .. } = *self;
        let stride = u64::from(variant.precision.stride());
        let (vertices, listed) = (item.counts & 0xffff, item.counts >> 16);
        self.fits("a work item's vertices", vertices.into(), CHUNK_VERTICES)?;
        self.fits("a work item's joints", listed.into(), CHUNK_JOINTS)?;
        // An item of nothing has no place among the outputs.
        self.fits("a work item without vertices", 1, vertices as usize)?;
        let end = u64::from(item.source) + u64::from(vertices) * stride;
        self.fits("source vertices A", end, streams.a.len())?;
        self.fits("source vertices B", end, streams.b.len())?;
        let end = u64::from(item.joint_list) + u64::from(listed);
        self.fits("a joint list", end, streams.tables.len())?;
        for &joint in &streams.tables[item.joint_list as usize..end as usize] {
            self.fits("a joint", u64::from(item.palette) + u64::from(joint) + 1, group.palette.len())?;
        }
        let end = u64::from(item.out_a) + u64::from(vertices);
        self.fits("output A", end, group.len_a as usize)?;
        let end = u64::from(item.out_b) + u64::from(vertices) * u64::from(variant.precision.words_b());
        self.fits("output B", end, group.len_b as usize)?;
        match variant.class {
            InfluenceClass::Any => {
                // A row without influences looks at the first joint all the same.
                let first = u64::from(item.palette) + 1;
                self.fits("an instance's palette", first, group.palette.len())?;
                self.rows(variant.precision, item, vertices, steps)?;
            }
            InfluenceClass::Eight => {
                let end = u64::from(item.extra) + u64::from(vertices) * stride;
                self.fits("extra influences", end, streams.extra.len())?;
                self.places(variant, item)?;
            }
            InfluenceClass::One | InfluenceClass::Two | InfluenceClass::Four => self.places(variant, item)?,
        }
        if variant.morph { self.morphs(variant.precision, item, vertices, steps) } else { Ok(()) }
    }

    /// The joints of each vertex, as places in the item's list. Kernels read as many as the class has, whatever the
    /// weights: past the list a workgroup's memory holds anything.
    fn places(&self, variant: Variant, item: &WorkItem) -> Result<(), CaptureError> {
        let Variant { class, precision, .. } = variant;
        let (vertices, listed) = (item.counts & 0xffff, (item.counts >> 16) as usize);
        let read = match class {
            InfluenceClass::One => 1,
            InfluenceClass::Two => 2,
            _ => 4,
        };
        let fits = |four: Four, read: usize| {
            let last = four.places().into_iter().take(read).max().unwrap_or_default();
            self.fits("a vertex's joint", u64::from(last) + 1, listed)
        };
        for i in 0..vertices {
            fits(load_four(self.streams, precision, item.source + i * precision.stride()), read)?;
            if class == InfluenceClass::Eight {
                fits(load_next_four(self.streams, precision, item.extra, i), read)?;
            }
        }
        Ok(())
    }

    /// Rows of any number of influences.
    fn rows(
        &self,
        precision: Precision,
        item: &WorkItem,
        vertices: u32,
        steps: &mut u64,
    ) -> Result<(), CaptureError> {
        for i in 0..vertices {
            let [start, length] = load_row(self.streams, precision, item.source + i * precision.stride());
            let first = u64::from(item.extra) + u64::from(start);
            let end = first + u64::from(length).div_ceil(2);
            if length == 0 {
                continue;
            }
            self.fits("a row of influences", end, self.streams.extra.len())?;
            *steps += u64::from(length);
            if *steps > MOST_STEPS {
                return Err(CaptureError::TooMuch { most: MOST_STEPS });
            }
            let pairs = &self.streams.extra[first as usize..end as usize];
            let joints = pairs.iter().flat_map(|pair| [pair[0], pair[2]]).take(length as usize);
            for joint in joints {
                let row = u64::from(item.palette) + u64::from(joint);
                self.fits("an influence's joint", row + 1, self.group.palette.len())?;
            }
        }
        Ok(())
    }

    fn morphs(
        &self,
        precision: Precision,
        item: &WorkItem,
        vertices: u32,
        steps: &mut u64,
    ) -> Result<(), CaptureError> {
        let frame = &self.group.frame;
        self.fits("a morph header", u64::from(item.morph) + 1, frame.len())?;
        let header: MorphHeader = bytemuck::cast(frame[item.morph as usize]);
        if header.count == 0 {
            return Ok(());
        }
        let end = u64::from(header.first) + 2 * u64::from(header.count);
        self.fits("active morph targets", end, frame.len())?;
        // The primitive starts before the item.
        self.fits("a morphed primitive", header.source.into(), item.source as usize)?;
        *steps += u64::from(header.count) * u64::from(vertices);
        if *steps > MOST_STEPS {
            return Err(CaptureError::TooMuch { most: MOST_STEPS });
        }
        let first = (item.source - header.source) / precision.stride();
        for words in frame[header.first as usize..end as usize].chunks_exact(2) {
            let target: ActiveTarget = bytemuck::cast([words[0], words[1]]);
            for index in first..first + vertices {
                self.delta(&target, index)?;
            }
        }
        Ok(())
    }

    /// What `morph_vertex` reads of one target for one vertex.
    fn delta(&self, target: &ActiveTarget, index: u32) -> Result<(), CaptureError> {
        let tables = &self.streams.tables;
        let mut rank = u64::from(index);
        if target.flags & DELTA_DENSE == 0 {
            let pair = u64::from(target.blocks) + u64::from(index >> 5) * 2;
            self.fits("a morph target's mask", pair + 2, tables.len())?;
            let (mask, bit) = (tables[pair as usize], 1u32 << (index & 31));
            if mask & bit == 0 {
                return Ok(());
            }
            rank = u64::from(tables[pair as usize + 1]) + u64::from((mask & (bit - 1)).count_ones());
        }
        let also =
            u64::from(target.flags & DELTA_NORMALS != 0) + u64::from(target.flags & DELTA_TANGENTS != 0);
        let stride = if target.flags & DELTA_SHORT != 0 { [2, 3, 5][also as usize] } else { 3 + 3 * also };
        self.fits("a morph delta", u64::from(target.deltas) + (rank + 1) * stride, tables.len())
    }

    /// Threads share items out in the order of output A, and expect that of output B to be the same.
    fn outputs_are_apart(&self) -> Result<(), CaptureError> {
        let ends = |(variant, item): (usize, WorkItem)| {
            let vertices = item.counts & 0xffff;
            let words = Variant::from_index(variant).precision.words_b();
            ([item.out_a, item.out_b], [item.out_a + vertices, item.out_b + vertices * words])
        };
        let mut all: Vec<_> = each_item(&self.group.frame).map(ends).collect();
        all.sort_unstable();
        for pair in all.windows(2) {
            let ((_, end), (start, _)) = (pair[0], pair[1]);
            if start[0] < end[0] || start[1] < end[1] {
                return Err(CaptureError::Overlap { group: self.index, at: start[0] });
            }
        }
        Ok(())
    }
}
