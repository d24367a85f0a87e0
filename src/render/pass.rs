//! The renderer as passes of a frame graph.

use sinew_graph::{Graph, Texture, TextureDesc};

use super::{
    RenderError, RenderFrame, Renderer,
    draw::{instance_of, view_of},
    layout::{Instance, View},
    pipeline::DEPTH_FORMAT,
};
use crate::{animate::Animator, deform::gpu::SkinnedPart};

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
        parts: &[SkinnedPart],
        output: Output,
        get: impl Fn(&F) -> RenderFrame<'_> + Clone + wgpu::WasmNotSend + 'static,
    ) -> Result<(), RenderError> {
        let mut list = self.draw_list(animator, parts)?;
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
                    let bytes: [u8; size_of::<Instance>()] = bytemuck::cast(instance_of(frame.animator, id));
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
            let vertices: Vec<_> =
                parts.iter().map(|part| [pass.vertex(part.a), pass.vertex(part.b)]).collect();
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
