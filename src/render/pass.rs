//! The renderer as passes of a frame graph.

use sinew_graph::{Buffer, Graph, Texture, TextureDesc};

use super::{
    RenderError, RenderFrame, Renderer,
    draw::{instance_of, view_of},
    layout::{Instance, View},
    lit::PartVertices,
    pipeline::DEPTH_FORMAT,
};
use crate::animate::{Animator, InstanceId};

/// Deformed vertices of one part as graph resources: what a raster pass reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DrawPart {
    /// The instance.
    pub instance: InstanceId,
    /// Index into the model's parts.
    pub part: u32,
    /// Output A: position and normal, 16 bytes a vertex.
    pub a: Buffer,
    /// Output B, packed: the tangent, 4 bytes a vertex.
    pub b: Buffer,
    /// First vertex of each primitive.
    pub first_vertices: Vec<u32>,
}

/// Where a pass draws to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Output {
    /// A target or texture of the renderer's format, one sample per pixel.
    pub color: Texture,
    /// Its size in pixels.
    pub size: [u32; 2],
    /// What it is cleared to; linear.
    pub clear: wgpu::Color,
}

impl Renderer {
    /// Declares a host pass that uploads camera, light and transforms, and a raster pass that draws `parts`.
    /// `get` finds the frame's data in `F`. Blended primitives are drawn last, from back to front by part.
    pub fn declare<F: 'static>(
        &self,
        graph: &mut Graph<F>,
        animator: &Animator,
        parts: impl IntoIterator<Item = DrawPart>,
        output: Output,
        get: impl Fn(&F) -> RenderFrame<'_> + Clone + wgpu::WasmNotSend + 'static,
    ) -> Result<(), RenderError> {
        let (vertices, parts): (Vec<_>, Vec<_>) = parts
            .into_iter()
            .map(|DrawPart { instance, part, a, b, first_vertices }| {
                ((a, b), PartVertices { instance, part, first_vertices })
            })
            .unzip();
        let mut list = self.draw_list(animator, &parts)?;
        let view = graph.transient("view", size_of::<View>() as u64);
        let instances = graph.transient("instances", list.instance_bytes());
        let (get_host, slots) = (get.clone(), list.instances.clone());
        graph.host("view", |pass| {
            let (view, instances) = (pass.upload(view), pass.upload(instances));
            move |host, frame: &mut F| {
                let frame = get_host(frame);
                let [mut view, instances] = host.write_all([view, instances]);
                view.copy_from_slice(bytemuck::bytes_of(&view_of(frame)));
                let (mut chunks, _) = instances.into_chunks::<{ size_of::<Instance>() }>();
                for (index, &id) in slots.iter().enumerate() {
                    let bytes: [u8; size_of::<Instance>()] =
                        bytemuck::cast(instance_of(frame.animator, id));
                    chunks.slice(index..index + 1).copy_from_slice(&[bytes]);
                }
            }
        });
        let (samples, format) = (self.pipelines.samples(), self.pipelines.format());
        let size = |format, samples| TextureDesc {
            samples,
            ..TextureDesc::new(output.size[0], output.size[1], format)
        };
        let depth = graph.texture("depth", size(DEPTH_FORMAT, samples));
        let multisampled = (samples > 1).then(|| graph.texture("multisampled", size(format, samples)));
        graph.raster("lit", |pass| {
            let vertices: Vec<_> = vertices.iter().map(|&(a, b)| [pass.vertex(a), pass.vertex(b)]).collect();
            let view = (0, pass.uniform(view).into());
            let instances = (1, pass.storage_read(instances).into());
            let group = pass.bind_group(&self.pipelines.view_layout, [view, instances]);
            match multisampled {
                Some(texture) => pass.color_resolve(texture, Some(output.clear), output.color),
                None => pass.color(output.color, Some(output.clear)),
            }
            pass.depth(depth, Some(0.0));
            move |pass, resources, frame| {
                let buffers = |part: usize| vertices[part].map(|access| resources.vertex(access));
                let draws = list.record(pass, resources.group(group), get(frame), buffers);
                resources.count_draws(draws);
            }
        });
        Ok(())
    }
}
