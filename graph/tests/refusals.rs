//! Refusals of what wgpu would refuse later and in other words; each with its whole message.

mod support;

use sinew_graph::{Declare, Graph, Limits, TextureDesc};
use support::{buffer, device, text, upload};

const COLOR: TextureDesc = TextureDesc::new(64, 32, wgpu::TextureFormat::Rgba8Unorm);
const BLACK: Option<wgpu::Color> = Some(wgpu::Color::BLACK);

fn raster(graph: &mut Graph<()>, label: &'static str, declare: impl FnOnce(&mut Declare<'_>)) {
    graph.raster(label, |pass| {
        declare(pass);
        pass.keep();
        |_, _, _| ()
    });
}

fn refusal(graph: &Graph<()>) -> String {
    text(graph.compile(&Limits::default()))
}

#[test]
fn an_export_of_an_import_that_cannot_be_copied_from_is_refused() {
    let (device, _) = device();
    let vertices = buffer(&device, 64, wgpu::BufferUsages::COPY_DST);
    let mut graph = Graph::new();
    let vertices = graph.import("vertices", &vertices);
    upload(&mut graph, vertices);
    graph.export(vertices);
    assert_eq!(
        refusal(&graph),
        "G018: exported `vertices` is an imported buffer that needs BufferUsages(COPY_SRC), but it was created with \
         BufferUsages(COPY_DST); create it with both"
    );
}

#[test]
fn an_export_for_mapping_is_refused() {
    let mut graph = Graph::new();
    let palette = graph.transient("palette", 64);
    upload(&mut graph, palette);
    graph.export_for(palette, wgpu::BufferUsages::MAP_READ);
    graph.export(palette);
    assert_eq!(
        refusal(&graph),
        "G019: `palette` cannot be exported for BufferUsages(MAP_READ): its buffer is shared; copy it into one of \
         your own behind the run"
    );
}

#[test]
fn imports_of_sizes_that_cannot_be_copied_or_bound_are_refused() {
    let (device, _) = device();
    for size in [0, 6] {
        let result = buffer(&device, size, wgpu::BufferUsages::COPY_DST);
        let mut graph = Graph::new();
        let result = graph.import("result", &result);
        upload(&mut graph, result);
        assert_eq!(
            refusal(&graph),
            format!(
                "G020: pass `upload` uses imported `result` of {size} bytes as `upload`; create it with a multiple of \
                 4 bytes, at least 4"
            )
        );
    }
}

#[test]
fn indices_of_an_odd_number_are_accepted() {
    let (device, _) = device();
    let indices = buffer(&device, 6, wgpu::BufferUsages::INDEX);
    let mut graph = Graph::new();
    let (indices, surface) = (graph.import("indices", &indices), graph.target("surface", COLOR));
    raster(&mut graph, "main", |pass| {
        pass.index(indices);
        pass.color(surface, BLACK);
    });
    assert!(refusal(&graph).starts_with("compiled"));
}

#[test]
fn one_buffer_for_two_imports_is_refused() {
    let (device, _) = device();
    let [a, b] = [(); 2].map(|()| buffer(&device, 64, wgpu::BufferUsages::COPY_DST));
    let mut graph = Graph::new();
    let [first, second] = [graph.import("first", &a), graph.import("second", &b)];
    upload(&mut graph, first);
    upload(&mut graph, second);
    graph.replace_import(second, &a);
    assert_eq!(
        refusal(&graph),
        "G021: `replace_import` gives `second` the buffer that `first` stands for; use `first` in its place"
    );
}

#[test]
fn a_raster_pass_that_draws_into_nothing_is_refused() {
    let mut graph = Graph::new();
    raster(&mut graph, "main", |_| ());
    assert_eq!(
        refusal(&graph),
        "G022: raster pass `main` draws into nothing; declare a colour or depth attachment"
    );
}

#[test]
fn more_colour_attachments_than_the_device_has_are_refused() {
    let mut graph = Graph::new();
    let targets: Vec<_> = (0..9).map(|_| graph.texture("target", COLOR)).collect();
    raster(&mut graph, "main", |pass| targets.iter().for_each(|&target| pass.color(target, BLACK)));
    assert_eq!(
        refusal(&graph),
        "G023: raster pass `main` has 9 colour attachments, over the device's `max_color_attachments` of 8"
    );
}

#[test]
fn resolves_that_do_not_fit_are_refused() {
    let other = TextureDesc { format: wgpu::TextureFormat::Bgra8Unorm, ..COLOR };
    for (from, into) in [(COLOR, COLOR), (TextureDesc { samples: 4, ..COLOR }, other)] {
        let mut graph = Graph::new();
        let (from, into) = (graph.texture("samples", from), graph.texture("surface", into));
        raster(&mut graph, "main", |pass| pass.color_resolve(from, BLACK, into));
        assert_eq!(
            refusal(&graph),
            "G024: raster pass `main` resolves `samples` into `surface`; the first needs several samples, and both \
             one format"
        );
    }
}

#[test]
fn a_depth_outside_its_range_is_refused() {
    let mut graph = Graph::new();
    let depth = graph.texture("depth", TextureDesc::new(8, 8, wgpu::TextureFormat::Depth32Float));
    raster(&mut graph, "main", |pass| pass.depth(depth, Some(2.0)));
    assert_eq!(refusal(&graph), "G025: raster pass `main` clears depth to 2; depth lies from 0 to 1");
}

#[test]
fn sample_counts_that_no_texture_has_are_refused() {
    for samples in [0, 3, u32::MAX] {
        let mut graph = Graph::new();
        let texture = graph.texture("texture", TextureDesc { samples, ..COLOR });
        raster(&mut graph, "main", |pass| pass.color(texture, BLACK));
        assert_eq!(
            refusal(&graph),
            format!(
                "G026: texture `texture` has {samples} samples; use 1, 2, 4, 8 or 16, and 1 for a storage texture"
            )
        );
    }
}

#[test]
fn uploads_that_no_staging_buffer_can_hold_together_are_refused() {
    let mut graph = Graph::new();
    for label in ["a", "b"] {
        let value = graph.transient(label, 200 << 20);
        upload(&mut graph, value);
        graph.export(value);
    }
    assert_eq!(
        refusal(&graph),
        "G009: `all upload blocks of the frame` needs 419430400, over the device's `max_buffer_size` of 268435456; \
         split it, or request a higher limit"
    );
}

#[test]
fn a_value_written_twice_by_one_pass_is_refused() {
    let mut graph = Graph::<()>::new();
    let value = graph.transient("value", 64);
    graph.compute("skin", |pass| {
        pass.storage_write(value);
        pass.storage_write(value);
        pass.keep();
        |_, _, _| ()
    });
    assert_eq!(refusal(&graph), "G002: `value` is written twice by `skin`; declare one write of it");
}

/// With the first of two changes in place switched off, the second one changes the exported bytes.
#[test]
fn an_export_changed_by_a_later_change_is_refused_while_the_first_is_disabled() {
    let mut graph = Graph::<()>::new();
    let value = graph.transient("value", 64);
    upload(&mut graph, value);
    graph.export(value);
    let mut next = value;
    let first = graph.compute("first", |pass| {
        next = pass.modify(value).1;
        |_, _, _| ()
    });
    graph.compute("second", |pass| {
        pass.modify(next);
        pass.keep();
        |_, _, _| ()
    });
    graph.set_enabled(first, false);
    assert_eq!(
        refusal(&graph),
        "G014: exported `value` is changed in place by `second`; export the value that `modify` returned"
    );
}

#[test]
fn an_export_whose_writer_is_disabled_is_refused() {
    let mut graph = Graph::<()>::new();
    let value = graph.transient("value", 64);
    let pass = graph.host("upload", |pass| {
        pass.upload(value);
        |_, ()| ()
    });
    graph.host("kept", |pass| {
        pass.keep();
        |_, ()| ()
    });
    graph.export(value);
    graph.set_enabled(pass, false);
    assert_eq!(
        refusal(&graph),
        "G013: exported `value` is written by no enabled pass; declare its writer or drop the export"
    );
}
