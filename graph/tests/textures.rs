//! Storage textures, copies of textures, and attachments that need no memory.

mod support;

use sinew_graph::{Graph, TextureDesc};
use support::{buffer, compile, device, run, runtime, validation};

const FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8Unorm;
const BLACK: Option<wgpu::Color> = Some(wgpu::Color::BLACK);

#[test]
fn an_attachment_that_nothing_keeps_is_memoryless() {
    let mut graph = Graph::<()>::new();
    let desc = TextureDesc::new(64, 64, FORMAT);
    let target = graph.target("surface", desc);
    let samples = graph.texture("samples", TextureDesc { samples: 4, ..desc });
    let depth_desc =
        TextureDesc { samples: 4, ..TextureDesc::new(64, 64, wgpu::TextureFormat::Depth32Float) };
    let depth = graph.texture("depth", depth_desc);
    let kept = graph.texture("kept", desc);
    graph.raster("main", |pass| {
        pass.color_resolve(samples, BLACK, target);
        pass.depth(depth, Some(0.0));
        |_, _, ()| ()
    });
    graph.raster("early", |pass| {
        pass.color(kept, BLACK);
        |_, _, ()| ()
    });
    graph.raster("late", |pass| {
        pass.color(target, None);
        pass.sampled(kept);
        |_, _, ()| ()
    });
    let text = compile(&graph).to_string();
    let lines = ["depth", "samples", "kept"].map(|name| {
        let line = text.lines().find(|line| line.contains(&format!("texture `{name}`")));
        line.expect("a line").ends_with("memoryless")
    });
    assert_eq!(lines, [true, true, false], "{text}");
    let plan = compile(&graph);
    let slots: Vec<_> = plan.textures().map(|texture| (&*texture.label, texture.slot().is_some())).collect();
    assert_eq!(slots, [("surface", false), ("samples", true), ("depth", true), ("kept", true)]);
    assert_eq!(plan.unaliased_texture_bytes(), 64 * 64 * 4 * (4 + 4 + 1));
}

#[test]
fn storage_textures_and_copies_of_textures_run_without_validation_errors() {
    const COLOR: TextureDesc = TextureDesc::new(64, 64, FORMAT);
    let (device, queue) = device();
    let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: None,
        entries: &[wgpu::BindGroupLayoutEntry {
            binding: 0,
            visibility: wgpu::ShaderStages::COMPUTE,
            ty: wgpu::BindingType::StorageTexture {
                access: wgpu::StorageTextureAccess::WriteOnly,
                format: FORMAT,
                view_dimension: wgpu::TextureViewDimension::D2,
            },
            count: None,
        }],
    });
    let mut graph = Graph::new();
    let [written, copy] = ["written", "copy"].map(|label| graph.texture(label, COLOR));
    let result = buffer(&device, 64 * 256, wgpu::BufferUsages::COPY_DST);
    let result = graph.import("result", &result);
    for (label, modify) in [("write", false), ("modify", true)] {
        let layout = &layout;
        graph.compute(label, |pass| {
            let access = if modify {
                pass.storage_texture_modify(written)
            } else {
                pass.storage_texture_write(written)
            };
            let group = pass.bind_group(layout, [(0, access.into())]);
            move |pass, resources, ()| {
                pass.set_bind_group(0, resources.group(group), &[]);
                resources.view(access);
            }
        });
    }
    graph.transfer("copy", |pass| {
        let (from, to) = (pass.texture_copy_src(written), pass.texture_copy_dst(copy));
        move |encoder, resources, ()| {
            let (from, to) = (resources.texture(from), resources.texture(to));
            encoder.copy_texture_to_texture(from.as_image_copy(), to.as_image_copy(), from.size());
        }
    });
    graph.transfer("read", |pass| {
        let (from, to) = (pass.texture_copy_src(copy), pass.copy_dst(result));
        move |encoder, resources, ()| {
            let (from, to) = (resources.texture(from), resources.binding(to));
            let layout = wgpu::TexelCopyBufferLayout {
                offset: to.offset,
                bytes_per_row: Some(256),
                rows_per_image: None,
            };
            let into = wgpu::TexelCopyBufferInfo { buffer: to.buffer, layout };
            encoder.copy_texture_to_buffer(from.as_image_copy(), into, from.size());
        }
    });
    let plan = compile(&graph);
    assert_eq!(support::trace(&plan), "write modify copy read");
    let mut runtime = runtime(&device, &queue);
    let error = validation(&device, || run(&device, &queue, &mut runtime, &mut graph, &plan));
    assert_eq!(error, None);
}
