//! Skinning in the vertex stage of every pass, against deforming once and drawing that.
//!
//! Each pass draws all characters into a small depth buffer, as shadow and depth passes do, a draw for each. The vertex
//! stage skins the position and nothing else there, which is the least that a pass can ask of it, and needs no memory;
//! ours also turns normals and tangents, once, and keeps them. Times go from the first pass's start, ours from that of
//! the compute pass, to the last one's end. Indices run along a strip, so that most vertices are shaded once or twice.
//! A card whose front end is slower than its memory hides skinning in the vertex stage.

use sinew::Precision;

use crate::{
    gpu::{Gpu, Timestamps, buffer},
    kernel::{Scene, checked},
    layouts::Meshes,
    models::{Counts, Shape, character},
    report::Report,
    vertex_stage::{DEPTH, VertexStage, texture},
};

/// Side of the depth buffer.
const SIDE: u32 = 256;
/// Depth that both ways may differ by, and the share of covered pixels where an edge may lie on the other side.
const DIFFERENCE: f32 = 1e-3;
const EDGES: f64 = 0.05;

pub(crate) fn run(gpu: &Gpu, report: &mut Report) {
    let gpu = &gpu.another();
    let (characters, vertices) = gpu.size((200, 20_000), (4, 3000));
    let model = character(1, Shape::of(vertices, 64, Counts::Mixed));
    let mut scene = Scene::new(gpu, checked(), Precision::Packed, vec![model.clone()], characters, false);
    scene.check(gpu, &[]);
    let palettes = scene.palettes();
    let meshes = Meshes { primitive: &model.meshes()[0].primitives()[0], palettes: &palettes };
    let extra = scene.vertices * 20.0 * 1e-6;
    // Before anything is rendered.
    let deform = scene.time(gpu);
    let draws = Draws::new(gpu, meshes, vertices);
    draws.compare(gpu, &scene);

    let name = format!("{characters} characters of {vertices} vertices");
    report.line(format!("{name}: compute alone"), &[("ms", deform * 1e3)]);
    for passes in [1, 2, 3, 4, 6] {
        let in_stage = gpu.median(|encoder, at| {
            draws.skinned(encoder, characters as u32, passes, |first, last| at.around(first, last));
        });
        let deformed = gpu.median(|encoder, at: Timestamps<'_>| {
            scene.deformer.record_timed(encoder, Some(at.start())).unwrap();
            draws.deformed(encoder, &scene, passes, |_, last| at.around(false, last));
        });
        report.line(
            format!("{name}, passes: {passes}"),
            &[
                ("ms vertex", in_stage * 1e3),
                ("ms compute", deformed * 1e3),
                ("MB vertex", 0.0),
                ("MB compute", extra),
            ],
        );
    }
}

struct Draws {
    stage: VertexStage,
    skinned: wgpu::RenderPipeline,
    deformed: wgpu::RenderPipeline,
    indices: wgpu::Buffer,
    count: u32,
    depth: wgpu::Texture,
    view: wgpu::TextureView,
}

impl Draws {
    fn new(gpu: &Gpu, meshes: Meshes<'_>, vertices: u32) -> Self {
        let device = &gpu.device;
        let stage = VertexStage::new(gpu, meshes);
        let skinned = stage.depth_pipeline(device, "skinned_depth", &[]);
        let positions = wgpu::VertexBufferLayout {
            array_stride: 16,
            step_mode: wgpu::VertexStepMode::Vertex,
            attributes: &wgpu::vertex_attr_array![0 => Float32x3],
        };
        let deformed = stage.depth_pipeline(device, "deformed_depth", &[Some(positions)]);
        let words: Vec<u32> = (0..vertices - 2).flat_map(|v| [v, v + 1, v + 2]).collect();
        let usage = wgpu::BufferUsages::INDEX | wgpu::BufferUsages::COPY_DST;
        let indices = buffer(device, words.len() as u64 * 4, usage);
        gpu.queue.write_buffer(&indices, 0, bytemuck::cast_slice(&words));
        let depth = texture(device, [SIDE, SIDE], DEPTH);
        let view = depth.create_view(&Default::default());
        Self { stage, skinned, deformed, indices, count: words.len() as u32, depth, view }
    }

    fn skinned<'t>(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        characters: u32,
        passes: u32,
        times: impl Fn(bool, bool) -> Option<wgpu::RenderPassTimestampWrites<'t>>,
    ) {
        self.passes(encoder, passes, times, |pass| {
            pass.set_pipeline(&self.skinned);
            (0..characters).for_each(|i| pass.draw_indexed(0..self.count, 0, i..i + 1));
        });
    }

    fn deformed<'t>(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        scene: &Scene,
        passes: u32,
        times: impl Fn(bool, bool) -> Option<wgpu::RenderPassTimestampWrites<'t>>,
    ) {
        self.passes(encoder, passes, times, |pass| {
            pass.set_pipeline(&self.deformed);
            for (i, &(instance, _)) in (0..).zip(&scene.instances) {
                pass.set_vertex_buffer(0, scene.deformer.vertices(instance, 0).unwrap().a);
                pass.draw_indexed(0..self.count, 0, i..i + 1);
            }
        });
    }

    fn passes<'t>(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        passes: u32,
        times: impl Fn(bool, bool) -> Option<wgpu::RenderPassTimestampWrites<'t>>,
        draw: impl Fn(&mut wgpu::RenderPass<'_>),
    ) {
        for number in 0..passes {
            let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
                depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                    view: &self.view,
                    depth_ops: Some(wgpu::Operations {
                        load: wgpu::LoadOp::Clear(1.0),
                        store: wgpu::StoreOp::Store,
                    }),
                    stencil_ops: None,
                }),
                timestamp_writes: times(number == 0, number + 1 == passes),
                ..Default::default()
            });
            pass.set_bind_group(0, &self.stage.group, &[]);
            pass.set_index_buffer(self.indices.slice(..), wgpu::IndexFormat::Uint32);
            draw(&mut pass);
        }
    }

    /// Both ways must leave the same depth behind.
    fn compare(&self, gpu: &Gpu, scene: &Scene) {
        let skinned = self.drawn(gpu, |encoder| {
            self.skinned(encoder, scene.instances.len() as u32, 1, |_, _| None);
        });
        let deformed = self.drawn(gpu, |encoder| self.deformed(encoder, scene, 1, |_, _| None));
        let covered = skinned.iter().filter(|depth| **depth < 1.0).count();
        let different = skinned.iter().zip(&deformed).filter(|(a, b)| (*a - *b).abs() > DIFFERENCE).count();
        assert!(covered > 0, "nothing was drawn");
        assert!(
            different as f64 <= EDGES * covered as f64,
            "{different} of {covered} pixels differ between both ways"
        );
    }

    fn drawn(&self, gpu: &Gpu, record: impl Fn(&mut wgpu::CommandEncoder)) -> Vec<f32> {
        let bytes = SIDE * SIDE * 4;
        let usage = wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::COPY_SRC;
        let pixels = buffer(&gpu.device, u64::from(bytes), usage);
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        record(&mut encoder);
        let layout =
            wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(SIDE * 4), rows_per_image: None };
        let into = wgpu::TexelCopyBufferInfo { buffer: &pixels, layout };
        encoder.copy_texture_to_buffer(self.depth.as_image_copy(), into, self.depth.size());
        gpu.queue.submit([encoder.finish()]);
        gpu.read(&pixels, 0, u64::from(bytes))
    }
}
