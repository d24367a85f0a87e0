//! What one pass draws: resolved once when it is declared, placed and ordered anew every frame.

use glam::{Affine3A, Mat3A, Vec3};

use super::{
    Camera, Light,
    layout::{Instance, View},
    pipeline::{Layer, PipelineSet},
};
use crate::{
    animate::{Animator, InstanceId, JointMatrix, ModelId},
    model::normal_matrix,
};

/// What a frame looks like: the per-frame data of a pass.
#[derive(Clone, Copy, Debug)]
pub struct RenderFrame<'a> {
    /// From where it is seen.
    pub camera: &'a Camera,
    /// How it is lit.
    pub light: &'a Light,
    /// Where the instances stand, and which are visible.
    pub animator: &'a Animator,
}

/// One part of one instance.
#[derive(Debug)]
pub(crate) struct DrawnPart {
    pub(crate) instance: InstanceId,
    pub(crate) model: ModelId,
    /// Place of the part among those that the model shows.
    pub(crate) shown: usize,
    /// Index into the model's parts.
    pub(crate) part: u32,
    /// Place of the instance in the instance buffer.
    pub(crate) slot: u32,
    /// Middle of the undeformed mesh.
    pub(crate) center: Vec3,
    pub(crate) attributes: wgpu::Buffer,
    pub(crate) attribute_bytes: std::ops::Range<u64>,
    pub(crate) indices: wgpu::Buffer,
}

/// One primitive of a part.
#[derive(Debug)]
pub(crate) struct Draw {
    /// Index into the parts.
    pub(crate) part: usize,
    /// Whose matrices say whether the primitive is mirrored: their places among those of the part's skin.
    pub(crate) joints: Vec<u32>,
    /// It was said that some mirror and some do not.
    pub(crate) is_warned: bool,
    pub(crate) layer: Layer,
    pub(crate) pipelines: PipelineSet,
    pub(crate) material: wgpu::BindGroup,
    pub(crate) indices: std::ops::Range<u32>,
    pub(crate) base_vertex: i32,
}

/// State of a part in the current frame.
#[derive(Clone, Copy, Debug, Default)]
struct PartState {
    visible: bool,
    /// Along the view, metres.
    distance: f32,
}

/// Everything a pass draws, sorted by layer.
#[derive(Debug, Default)]
pub(crate) struct DrawList {
    pub(crate) parts: Vec<DrawnPart>,
    pub(crate) draws: Vec<Draw>,
    /// One per slot.
    pub(crate) instances: Vec<InstanceId>,
    states: Vec<PartState>,
    order: Vec<u32>,
}

impl DrawList {
    /// Brings the draws into their fixed order; call once after the last one was added.
    pub(crate) fn finish(&mut self) {
        self.draws.sort_by_key(|draw| draw.layer);
        self.states = vec![PartState::default(); self.parts.len()];
        self.order = (0..self.draws.len() as u32).collect();
    }

    /// Bytes of the instance buffer.
    pub(crate) fn instance_bytes(&self) -> u64 {
        (self.instances.len().max(1) * size_of::<Instance>()) as u64
    }

    /// Records all draws; returns how many. `vertices` gives the two deformed vertex buffers of a part.
    /// Allocates nothing.
    pub(crate) fn record<'b>(
        &mut self,
        pass: &mut wgpu::RenderPass<'_>,
        view: &wgpu::BindGroup,
        frame: RenderFrame<'_>,
        vertices: impl Fn(usize) -> [wgpu::BufferSlice<'b>; 2],
    ) -> u64 {
        self.update(frame);
        let Self { parts, draws, states, order, .. } = self;
        pass.set_bind_group(0, view, &[]);
        let (mut count, mut bound) = (0, None);
        for &index in order.iter() {
            let draw = &mut draws[index as usize];
            let (part, state) = (&parts[draw.part], states[draw.part]);
            if !state.visible || draw.indices.is_empty() {
                continue;
            }
            if bound != Some(draw.part) {
                let [a, b] = vertices(draw.part);
                pass.set_vertex_buffer(0, a);
                pass.set_vertex_buffer(1, b);
                pass.set_vertex_buffer(2, part.attributes.slice(part.attribute_bytes.clone()));
                pass.set_index_buffer(part.indices.slice(..), wgpu::IndexFormat::Uint32);
                bound = Some(draw.part);
            }
            let pipelines = &draw.pipelines;
            let winding = Winding::of(frame.animator, part, &draw.joints);
            pass.set_pipeline(match winding {
                Winding::Plain => &pipelines.plain,
                Winding::Mirrored => &pipelines.mirrored,
                Winding::Mixed => &pipelines.mixed,
            });
            if winding == Winding::Mixed && !std::mem::replace(&mut draw.is_warned, true) {
                tracing::warn!(
                    part = part.part,
                    "some joints of a primitive mirror and some do not; it is drawn from both sides"
                );
            }
            pass.set_bind_group(1, &draw.material, &[]);
            pass.draw_indexed(draw.indices.clone(), draw.base_vertex, part.slot..part.slot + 1);
            count += 1;
        }
        count
    }

    /// Finds what is visible and mirrored, and sorts what is blended from back to front by part.
    fn update(&mut self, frame: RenderFrame<'_>) {
        let view = frame.camera.view();
        for (part, state) in self.parts.iter().zip(&mut self.states) {
            *state = place(frame.animator, part, 0)
                .map(|matrix| PartState {
                    visible: true,
                    distance: -view.transform_point3(matrix.transform_point3(part.center)).z,
                })
                .unwrap_or_default();
        }
        let Self { draws, states, order, .. } = self;
        let blended = draws.partition_point(|draw| draw.layer < Layer::Blended);
        order[blended..].sort_unstable_by(|&a, &b| {
            let distance = |index: u32| states[draws[index as usize].part].distance;
            distance(b).total_cmp(&distance(a)).then(a.cmp(&b))
        });
    }
}

/// Which way round a primitive's triangles are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Winding {
    Plain,
    /// All of its joints mirror.
    Mirrored,
    /// Some do and some do not.
    Mixed,
}

impl Winding {
    /// Joints without volume say nothing.
    fn of(animator: &Animator, part: &DrawnPart, joints: &[u32]) -> Self {
        let mut found = None;
        for joint in joints {
            let determinant =
                place(animator, part, *joint).map_or(0.0, |matrix| matrix.matrix3.determinant());
            let own = match determinant {
                d if d > 0.0 => Self::Plain,
                d if d < 0.0 => Self::Mirrored,
                _ => continue,
            };
            if found.is_some_and(|found| found != own) {
                return Self::Mixed;
            }
            found = Some(own);
        }
        found.unwrap_or(Self::Plain)
    }
}

/// Where a joint of a part (or its node) takes the undeformed mesh; `None` while hidden or gone.
fn place(animator: &Animator, part: &DrawnPart, joint: u32) -> Option<Affine3A> {
    if !animator.is_part_shown(part.instance, part.part).ok()? {
        return None;
    }
    let first = *animator.palette_layout(part.model).ok()?.parts().get(part.shown)?;
    let row = animator.palette(part.instance).ok()?.get((first + joint) as usize)?;
    Some(animator.draw_transform(part.instance).ok()? * affine(row))
}

fn affine(m: &JointMatrix) -> Affine3A {
    Affine3A::from_mat3_translation(
        glam::Mat3::from_cols_array_2d(&std::array::from_fn(|c| [m.x[c], m.y[c], m.z[c]])),
        Vec3::new(m.x[3], m.y[3], m.z[3]),
    )
}

/// The camera and the light as the shader reads them.
pub(crate) fn view_of(frame: RenderFrame<'_>) -> View {
    let light = frame.light;
    View {
        view_projection: frame.camera.view_projection().to_cols_array_2d(),
        eye: frame.camera.eye.to_array(),
        light: light.direction.try_normalize().unwrap_or(Vec3::Y).to_array(),
        light_color: light.color.to_array(),
        sky: light.sky.to_array(),
        ground: light.ground.to_array(),
        ..View::default()
    }
}

/// An instance as the shader reads it; the identity when it is gone.
pub(crate) fn instance_of(animator: &Animator, instance: InstanceId) -> Instance {
    let transform = animator.draw_transform(instance).unwrap_or(Affine3A::IDENTITY);
    let m: Mat3A = transform.matrix3;
    let orientation = if m.determinant() < 0.0 { -1.0 } else { 1.0 };
    let normals = normal_matrix(m);
    let t = transform.translation;
    let row = |axis: usize| [m.x_axis[axis], m.y_axis[axis], m.z_axis[axis], t[axis]];
    let normal = |axis: usize| normals.row(axis).to_array();
    Instance {
        x: row(0),
        y: row(1),
        z: row(2),
        normal_x: normal(0),
        pad0: 0.0,
        normal_y: normal(1),
        pad1: 0.0,
        normal_z: normal(2),
        orientation,
    }
}
