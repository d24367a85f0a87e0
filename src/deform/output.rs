//! Where deformed vertices lie when one pair of buffers holds them all, and how to read them back.

use std::{collections::HashMap, ops::Range};

use glam::{Vec3, Vec4};

use super::{
    DeformError,
    cast::Cast,
    codec::{oct_decode, oct_sign},
    frame::{Job, PartOutput},
    group::{Group, PART_ALIGNMENT, Reach, Sharing},
    source::Precision,
};
use crate::{
    animate::InstanceId,
    model::{Model, Primitive},
};

/// Bytes a vertex takes in output A.
pub const BYTES_A: u64 = 16;

/// Every part of every instance, one after another in the pair of buffers of its group, each at a multiple of 256
/// bytes in both so that it can also be bound as storage.
#[derive(Debug, Default)]
pub(crate) struct OutputLayout {
    pub(crate) groups: Vec<Group>,
    /// Which group an instance is in, and where its outputs start there.
    first: HashMap<InstanceId, (usize, usize)>,
    revision: Option<u64>,
    /// The visible set that outputs are placed for, where only what is shown is placed.
    visibility: Option<u64>,
}

impl OutputLayout {
    /// Lays everything out anew when models or instances changed; returns whether it did.
    pub(crate) fn update(&mut self, cast: &Cast, reach: Reach) -> Result<bool, DeformError> {
        if self.revision == Some(cast.revision()) {
            return Ok(false);
        }
        self.revision = None;
        self.visibility = None;
        self.groups.clear();
        self.first.clear();
        let mut sharing = Sharing::new(reach);
        // One of a model that only the animator knows has no vertices here.
        let with_source = |id: InstanceId| Some((id, cast.source_of(id).ok()?));
        let mut instances: Vec<_> = cast.animator.instances().filter_map(with_source).collect();
        // Those whose vertices lie together share bindings.
        instances.sort_by_key(|(_, source)| source.page);
        for (instance, source) in instances {
            let rows = cast.animator.palette_layout(cast.animator.model_of(instance)?)?.len();
            let starts = sharing.starts_group(source.page, source.needs(rows))?;
            if starts {
                self.groups.push(Group { page: source.page, ..Group::default() });
            }
            let at = self.groups.len() - 1;
            let Some(group) = self.groups.last_mut() else { continue };
            self.first.insert(instance, (at, group.outputs.len()));
            group.jobs.push(Job::after(&group.jobs, instance, rows, group.outputs.len())?);
            for part in &source.parts {
                let output = group.place(part.vertices, source.precision)?;
                group.outputs.push(output);
            }
        }
        self.revision = Some(cast.revision());
        Ok(true)
    }

    /// Whether it was laid out for the models and instances that there are.
    pub(crate) fn is_of(&self, cast: &Cast) -> bool {
        self.revision == Some(cast.revision())
    }

    /// After [`update`](Self::update): places only what is shown; returns whether anything moved. Outputs of what is not
    /// are nowhere.
    #[cfg(feature = "gpu")]
    pub(crate) fn compact(&mut self, cast: &Cast) -> Result<bool, DeformError> {
        let visibility = Some(cast.animator.visibility());
        if self.visibility == visibility {
            return Ok(false);
        }
        self.visibility = None;
        for group in &mut self.groups {
            (group.len_a, group.len_b) = (0, 0);
            for at in 0..group.jobs.len() {
                let Job { instance, outputs, .. } = group.jobs[at];
                let source = cast.source_of(instance)?;
                for (shown, part) in source.parts.iter().enumerate() {
                    group.outputs[outputs + shown] = if cast.animator.is_part_shown(instance, part.part)? {
                        group.place(part.vertices, source.precision)?
                    } else {
                        PartOutput::NOWHERE
                    };
                }
            }
        }
        self.visibility = visibility;
        Ok(true)
    }

    /// Where parts lie now, where they may move from record to record.
    #[cfg(feature = "gpu")]
    pub(crate) fn snapshot(&self) -> Option<Snapshot> {
        self.visibility?;
        Some(Snapshot(self.groups.iter().map(|group| group.outputs.clone()).collect()))
    }

    /// The group whose outputs hold a part, by its index in the model, and where.
    #[cfg(feature = "gpu")]
    pub(crate) fn find(
        &self,
        cast: &Cast,
        instance: InstanceId,
        part: u32,
    ) -> Result<(usize, DeformedRange), DeformError> {
        self.find_then(cast, None, instance, part)
    }

    /// The same as of a snapshot.
    fn find_then(
        &self,
        cast: &Cast,
        snapshot: Option<&Snapshot>,
        instance: InstanceId,
        part: u32,
    ) -> Result<(usize, DeformedRange), DeformError> {
        let source = cast.source_of(instance)?;
        let Some(shown) = source.parts.iter().position(|known| known.part == part) else {
            return Err(DeformError::UnknownPart { part, shown: source.model.shown_parts().to_vec() });
        };
        let data = &source.parts[shown];
        let (group, first) = self.place_of(cast, instance)?;
        let outputs = snapshot.map_or(&self.groups[group].outputs, |snapshot| &snapshot.0[group]);
        let output = outputs[first + shown];
        if output == PartOutput::NOWHERE {
            return Err(DeformError::NotShown { part });
        }
        let bytes_b = u64::from(source.precision.words_b()) * 4;
        let (a, b) = (u64::from(output.a) * BYTES_A, u64::from(output.b) * 4);
        let vertices = u64::from(data.vertices);
        let range = DeformedRange {
            a: a..a + vertices * BYTES_A,
            b: b..b + vertices * bytes_b,
            precision: source.precision,
            first_vertices: data.primitives.iter().map(|p| p.first).collect(),
        };
        Ok((group, range))
    }

    /// The group whose outputs hold an instance, and its byte ranges in them; empty where nothing of it is shown.
    #[cfg(feature = "gpu")]
    pub(crate) fn find_instance(
        &self,
        cast: &Cast,
        instance: InstanceId,
    ) -> Result<(usize, [Range<u64>; 2]), DeformError> {
        let &(group, _) = self.first.get(&instance).ok_or(DeformError::NotRecorded)?;
        let mut out = [0..0, 0..0];
        for part in &cast.source_of(instance)?.parts {
            let range = match self.find(cast, instance, part.part) {
                Ok((_, range)) => range,
                Err(DeformError::NotShown { .. }) => continue,
                Err(error) => return Err(error),
            };
            let starts =
                if out[1].is_empty() { [range.a.start, range.b.start] } else { [out[0].start, out[1].start] };
            out = [starts[0]..range.a.end, starts[1]..range.b.end];
        }
        Ok((group, out))
    }

    /// The group of an instance, and where the outputs of its parts start there.
    pub(crate) fn place_of(&self, cast: &Cast, instance: InstanceId) -> Result<(usize, usize), DeformError> {
        let first = self.first.get(&instance).filter(|_| self.revision == Some(cast.revision()));
        first.copied().ok_or(DeformError::NotRecorded)
    }
}

impl Group {
    /// The next place for so many vertices.
    fn place(&mut self, vertices: u32, precision: Precision) -> Result<PartOutput, DeformError> {
        let output = PartOutput { a: self.len_a, b: self.len_b };
        self.len_a = grow(self.len_a, vertices, (PART_ALIGNMENT / BYTES_A) as u32)?;
        self.len_b = grow(self.len_b, words(vertices, precision)?, (PART_ALIGNMENT / 4) as u32)?;
        Ok(output)
    }
}

fn words(vertices: u32, precision: Precision) -> Result<u32, DeformError> {
    let words = vertices.checked_mul(precision.words_b());
    words.ok_or(DeformError::StreamTooLong { units: vertices as usize * precision.words_b() as usize })
}

fn grow(len: u32, by: u32, multiple: u32) -> Result<u32, DeformError> {
    let next = len.checked_add(by).and_then(|n| n.checked_next_multiple_of(multiple));
    next.ok_or(DeformError::StreamTooLong { units: len as usize + by as usize })
}

/// Byte ranges of one part in the two outputs of its group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DeformedRange {
    /// In output A: 16 bytes a vertex, position f32×3 and the normal as octahedral snorm16×2.
    pub(crate) a: Range<u64>,
    /// In output B: 4 bytes a vertex (packed) or 32 (exact).
    pub(crate) b: Range<u64>,
    /// Format of output B.
    pub(crate) precision: Precision,
    /// First vertex of each primitive inside the ranges; the base vertex to draw it with.
    pub(crate) first_vertices: Vec<u32>,
}

/// Deformed vertices of one primitive, in the source's vertex order and the instance's space.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeformedPrimitive {
    /// Metres.
    pub positions: Vec<Vec3>,
    /// Unit length; empty where the source had none.
    pub normals: Vec<Vec3>,
    /// xyz unit length; empty where the source had none. w as in the source when exact; when packed, times
    /// -1 where the blended matrix mirrors, which is what shading needs.
    pub tangents: Vec<Vec4>,
}

/// One deformed primitive and where it belongs.
#[derive(Clone, Debug, PartialEq)]
pub struct BakedPrimitive {
    /// The node that carries the mesh.
    pub node: u32,
    /// Index into the model's meshes.
    pub mesh: u32,
    /// Index into the mesh's primitives.
    pub primitive: u32,
    /// Whether a skin moved it.
    pub skinned: bool,
    /// The vertices, in the source's order.
    pub vertices: DeformedPrimitive,
}

/// Both outputs of a group, or what there is of them from `start` on, in bytes.
#[derive(Clone, Copy)]
pub(crate) struct Outputs<'o> {
    pub(crate) a: &'o [[u32; 4]],
    pub(crate) b: &'o [u32],
    pub(crate) start: [u64; 2],
}

impl<'o> Outputs<'o> {
    /// A part's own vertices in both.
    fn of(self, range: &DeformedRange) -> (&'o [[u32; 4]], &'o [u32]) {
        let within = |range: &Range<u64>, start: u64, unit: u64| {
            ((range.start - start) / unit) as usize..((range.end - start) / unit) as usize
        };
        (&self.a[within(&range.a, self.start[0], BYTES_A)], &self.b[within(&range.b, self.start[1], 4)])
    }
}

/// The places of the parts of each group, as they were.
#[derive(Clone, Debug)]
pub(crate) struct Snapshot(Vec<Vec<PartOutput>>);

/// Every primitive of an instance, in the order of the shown parts, as of a snapshot if there is one: what then had no
/// place is left out. `outputs` gives those of a group.
pub(crate) fn bake<'o>(
    cast: &Cast,
    layout: &OutputLayout,
    snapshot: Option<&Snapshot>,
    instance: InstanceId,
    outputs: impl Fn(usize) -> Outputs<'o>,
) -> Result<Vec<BakedPrimitive>, DeformError> {
    let source = cast.source_of(instance)?;
    let mut baked = Vec::new();
    for part in &source.parts {
        let (group, range) = match layout.find_then(cast, snapshot, instance, part.part) {
            Err(DeformError::NotShown { .. }) => continue,
            found => found?,
        };
        let (a, b) = outputs(group).of(&range);
        baked.extend(bake_part(&source.model, part.part, range.precision, &range.first_vertices, a, b));
    }
    Ok(baked)
}

/// Every primitive of a part, from its own bytes of both outputs.
pub(crate) fn bake_part<'o>(
    model: &'o Model,
    part: u32,
    precision: Precision,
    first_vertices: &'o [u32],
    a: &'o [[u32; 4]],
    b: &'o [u32],
) -> impl Iterator<Item = BakedPrimitive> + 'o {
    let part = &model.parts()[part as usize];
    let primitives = model.meshes()[part.mesh as usize].primitives();
    (0..).zip(primitives.iter().zip(first_vertices)).map(move |(primitive, (data, &first))| BakedPrimitive {
        node: part.node,
        mesh: part.mesh,
        primitive,
        skinned: part.skin.is_some(),
        vertices: read(a, b, precision, first, data),
    })
}

/// Reads one primitive from a part's bytes of both outputs. `first` is its first vertex in the part.
/// Normals that were computed because the source had none are left out.
fn read(
    a: &[[u32; 4]],
    b: &[u32],
    precision: Precision,
    first: u32,
    primitive: &Primitive,
) -> DeformedPrimitive {
    let vertex = |v: u32| (first + v) as usize;
    let order = primitive.deformed_vertices();
    let position = |v: &u32| Vec4::from_array(a[vertex(*v)].map(f32::from_bits)).truncate();
    let exact = |v: u32, from: usize| {
        let words = &b[vertex(v) * 8 + from..];
        Vec3::new(f32::from_bits(words[0]), f32::from_bits(words[1]), f32::from_bits(words[2]))
    };
    let normal = |v: &u32| match precision {
        Precision::Exact => exact(*v, 0),
        Precision::Packed => oct_decode(a[vertex(*v)][3]),
    };
    let tangent = |v: &u32| match precision {
        Precision::Exact => exact(*v, 3).extend(f32::from_bits(b[vertex(*v) * 8 + 6])),
        Precision::Packed => oct_decode(b[vertex(*v)]).extend(oct_sign(b[vertex(*v)])),
    };
    let with_normals = !primitive.normals().is_empty() && !primitive.has_flat_normals();
    let with_tangents = !primitive.tangents().is_empty();
    DeformedPrimitive {
        positions: order.iter().map(position).collect(),
        normals: if with_normals { order.iter().map(normal).collect() } else { Vec::new() },
        tangents: if with_tangents { order.iter().map(tangent).collect() } else { Vec::new() },
    }
}
