//! Every refusal, with its whole message.

mod support;

use sinew_graph::{Buffer, Declare, Graph, Limits, TextureDesc};
use support::{buffer, device, text};

const COLOR: TextureDesc = TextureDesc::new(64, 32, wgpu::TextureFormat::Rgba8Unorm);
const DEPTH: TextureDesc = TextureDesc::new(64, 32, wgpu::TextureFormat::Depth32Float);
const BLACK: Option<wgpu::Color> = Some(wgpu::Color::BLACK);

/// Declares a compute pass that records nothing.
fn compute<R>(graph: &mut Graph<()>, label: &'static str, declare: impl FnOnce(&mut Declare<'_>) -> R) {
    graph.compute(label, |pass| {
        declare(pass);
        |_, _, _| ()
    });
}

fn raster<R>(graph: &mut Graph<()>, label: &'static str, declare: impl FnOnce(&mut Declare<'_>) -> R) {
    graph.raster(label, |pass| {
        declare(pass);
        |_, _, _| ()
    });
}

fn host<R>(graph: &mut Graph<()>, label: &'static str, declare: impl FnOnce(&mut Declare<'_>) -> R) {
    graph.host(label, |pass| {
        declare(pass);
        |_, _| ()
    });
}

fn transfer<R>(graph: &mut Graph<()>, label: &'static str, declare: impl FnOnce(&mut Declare<'_>) -> R) {
    graph.transfer(label, |pass| {
        declare(pass);
        |_, _, _| ()
    });
}

fn written(graph: &mut Graph<()>, label: &'static str) -> Buffer {
    let buffer = graph.transient(label, 64);
    compute(graph, "write", |pass| pass.storage_write(buffer));
    buffer
}

fn refusal(graph: &Graph<()>) -> String {
    text(graph.compile(&Limits::default()))
}

#[test]
fn a_read_before_any_write_is_refused() {
    let mut graph = Graph::new();
    let palette = graph.transient("palette", 64);
    compute(&mut graph, "skin", |pass| {
        pass.storage_read(palette);
        pass.keep();
    });
    assert_eq!(
        refusal(&graph),
        "G001: pass `skin` reads `palette` before any pass writes it; declare its writer, import it, or clear it"
    );
}

#[test]
fn drawing_over_a_texture_that_nobody_drew_is_refused() {
    let mut graph = Graph::new();
    let shade = graph.texture("shade", COLOR);
    raster(&mut graph, "draw", |pass| {
        pass.color(shade, None);
        pass.keep();
    });
    assert_eq!(
        refusal(&graph),
        "G001: pass `draw` reads `shade` before any pass writes it; declare its writer, import it, or clear it"
    );
}

#[test]
fn two_writers_of_one_value_are_refused() {
    let mut graph = Graph::new();
    let vertices = graph.transient("vertices", 64);
    compute(&mut graph, "morph", |pass| pass.storage_write(vertices));
    compute(&mut graph, "skin", |pass| pass.storage_write(vertices));
    graph.export(vertices);
    assert_eq!(
        refusal(&graph),
        "G002: `vertices` is written by `morph` and again by `skin`; let `skin` use `modify` on what `morph` leaves"
    );
}

#[test]
fn changing_one_value_in_place_twice_is_refused() {
    let mut graph = Graph::new();
    let vertices = written(&mut graph, "vertices");
    compute(&mut graph, "morph", |pass| pass.keep_modified(vertices));
    compute(&mut graph, "skin", |pass| pass.keep_modified(vertices));
    assert_eq!(
        refusal(&graph),
        "G002: `vertices` is written by `morph` and again by `skin`; let `skin` use `modify` on what `morph` leaves"
    );
}

trait KeepModified {
    fn keep_modified(&mut self, buffer: Buffer);
}

impl KeepModified for Declare<'_> {
    fn keep_modified(&mut self, buffer: Buffer) {
        self.modify(buffer);
        self.keep();
    }
}

#[test]
fn reading_and_writing_one_value_in_a_pass_is_refused() {
    let mut graph = Graph::new();
    let vertices = written(&mut graph, "vertices");
    compute(&mut graph, "skin", |pass| {
        pass.storage_read(vertices);
        pass.keep_modified(vertices);
    });
    assert_eq!(
        refusal(&graph),
        "G003: pass `skin` both reads and writes `vertices`; use `modify` alone, or split the pass or the resource"
    );
}

#[test]
fn reading_one_member_and_writing_another_of_a_pack_is_refused() {
    let mut graph = Graph::new();
    let pack = graph.pack("vertices", [("a", 64), ("b", 64)]);
    let (a, b) = (graph.member(pack, 0), graph.member(pack, 1));
    compute(&mut graph, "write", |pass| pass.pack_write(pack));
    compute(&mut graph, "skin", |pass| {
        pass.storage_read(a);
        pass.keep_modified(b);
    });
    assert_eq!(
        refusal(&graph),
        "G003: pass `skin` both reads and writes `vertices`; use `modify` alone, or split the pass or the resource"
    );
}

#[test]
fn sampling_the_texture_drawn_into_is_refused() {
    let mut graph = Graph::new();
    let target = graph.target("surface", COLOR);
    raster(&mut graph, "draw", |pass| {
        pass.sampled(target);
        pass.color(target, BLACK);
    });
    assert_eq!(
        refusal(&graph),
        "G003: pass `draw` both reads and writes `surface`; use `modify` alone, or split the pass or the resource"
    );
}

#[test]
fn a_cycle_names_its_passes() {
    let mut graph = Graph::new();
    let [x, y, z] = ["x", "y", "z"].map(|label| graph.transient(label, 64));
    for (label, from, to) in [("one", z, x), ("two", x, y), ("three", y, z)] {
        compute(&mut graph, label, |pass| {
            pass.storage_read(from);
            pass.storage_write(to);
        });
    }
    graph.export(y);
    assert_eq!(
        refusal(&graph),
        "G004: passes wait for each other: `one` -> `two` -> `three` -> `one`; let one of them read an earlier value"
    );
}

#[test]
fn a_vertex_read_in_a_compute_pass_is_refused() {
    let mut graph = Graph::new();
    let vertices = written(&mut graph, "vertices");
    compute(&mut graph, "pick", |pass| {
        pass.vertex(vertices);
        pass.keep();
    });
    assert_eq!(
        refusal(&graph),
        "G005: compute pass `pick` cannot use `vertices` as `vertex`; declare that use in a raster pass"
    );
}

#[test]
fn a_storage_write_in_a_host_pass_is_refused() {
    let mut graph = Graph::new();
    let palette = graph.transient("palette", 64);
    host(&mut graph, "animate", |pass| pass.storage_write(palette));
    graph.export(palette);
    assert_eq!(
        refusal(&graph),
        "G005: host pass `animate` cannot use `palette` as `storage_write`; declare that use in a compute or raster pass"
    );
}

#[test]
fn an_upload_outside_a_host_pass_is_refused() {
    let mut graph = Graph::new();
    let palette = graph.transient("palette", 64);
    transfer(&mut graph, "copy", |pass| pass.upload(palette));
    graph.export(palette);
    assert_eq!(
        refusal(&graph),
        "G005: transfer pass `copy` cannot use `palette` as `upload`; declare that use in a host pass"
    );
}

#[test]
fn a_host_pass_that_reads_what_the_gpu_writes_is_refused() {
    let mut graph = Graph::new();
    let bounds = written(&mut graph, "bounds");
    host(&mut graph, "animate", |pass| {
        pass.storage_read(bounds);
        pass.keep();
    });
    assert_eq!(
        refusal(&graph),
        "G006: host pass `animate` reads `bounds` (`storage_read`), which only the GPU sees while the frame is \
         recorded; read it in a compute pass, or map it after the submit"
    );
}

#[test]
fn handles_of_another_graph_are_refused_wherever_they_are_used() {
    let mut other = Graph::<()>::new();
    let (_, buffer) = (other.transient("first", 4), other.transient("palette", 64));
    let (pack, texture) = (other.pack("pack", [("member", 4)]), other.texture("shade", COLOR));
    let pass = other.compute("other", |_| |_, _, _| ());
    let mut graph = Graph::new();
    compute(&mut graph, "skin", |pass| {
        pass.storage_read(buffer);
        pass.storage_write(buffer);
        pass.pack_write(pack);
        pass.sampled(texture);
        pass.keep_modified(buffer);
    });
    graph.export(buffer);
    graph.set_enabled(pass, false);
    let line = |place: &str, kind: &str| {
        format!(
            "G007: {place} uses a {kind} of another graph, or one that does not exist; declare it in this graph"
        )
    };
    let expected = [
        line("pass `skin`", "buffer"),
        line("pass `skin`", "buffer"),
        line("pass `skin`", "pack"),
        line("pass `skin`", "texture"),
        line("pass `skin`", "buffer"),
        line("`export`", "buffer"),
        line("`set_enabled`", "pass"),
    ];
    assert_eq!(refusal(&graph), expected.join("\n"));
}

#[test]
fn a_member_that_does_not_exist_is_refused() {
    let mut graph = Graph::new();
    let pack = graph.pack("pack", [("only", 4)]);
    let missing = graph.member(pack, 1);
    compute(&mut graph, "skin", |pass| {
        pass.storage_read(missing);
        pass.keep();
    });
    assert_eq!(
        refusal(&graph),
        "G007: pass `skin` uses a buffer of another graph, or one that does not exist; declare it in this graph"
    );
}

#[test]
fn an_access_of_another_pass_is_refused() {
    let (device, _) = device();
    let layout =
        device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: None, entries: &[] });
    let mut graph = Graph::new();
    let palette = graph.transient("palette", 64);
    let mut access = None;
    compute(&mut graph, "write", |pass| access = Some(pass.storage_write(palette)));
    compute(&mut graph, "skin", |pass| {
        pass.bind_group(&layout, access.map(|access| (0, access.into())));
        pass.keep();
    });
    assert_eq!(
        refusal(&graph),
        "G008: pass `skin` binds an access that pass `write` declared; declare the use in `skin`"
    );
}

#[test]
fn a_storage_over_the_binding_limit_is_refused() {
    let mut graph = Graph::new();
    let vertices = graph.transient("vertices", 1 << 30);
    compute(&mut graph, "skin", |pass| pass.storage_write(vertices));
    graph.export(vertices);
    assert_eq!(
        refusal(&graph),
        "G009: `vertices` needs 1073741824, over the device's `max_storage_buffer_binding_size` of 134217728; \
         split it, or request a higher limit"
    );
}

#[test]
fn a_buffer_over_the_buffer_limit_is_refused() {
    let mut graph = Graph::new();
    let vertices = graph.transient("vertices", u64::MAX);
    transfer(&mut graph, "copy", |pass| pass.copy_dst(vertices));
    graph.export(vertices);
    assert_eq!(
        refusal(&graph),
        "G009: `vertices` needs 18446744073709551612, over the device's `max_buffer_size` of 268435456; \
         split it, or request a higher limit"
    );
}

#[test]
fn a_pack_whose_live_members_exceed_the_binding_limit_is_refused() {
    let mut graph = Graph::new();
    let pack = graph.pack("vertices", [("a", 100 << 20), ("b", 100 << 20)]);
    compute(&mut graph, "skin", |pass| pass.pack_write(pack));
    let members: Vec<_> = graph.members(pack).collect();
    graph.export(members[0]);
    assert!(graph.compile(&Limits::default()).is_ok(), "one member fits");
    graph.export(members[1]);
    assert_eq!(
        refusal(&graph),
        "G009: `vertices` needs 209715200, over the device's `max_storage_buffer_binding_size` of 134217728; \
         split it, or request a higher limit"
    );
}

#[test]
fn a_texture_over_the_side_limit_is_refused() {
    let mut graph = Graph::new();
    let target = graph.target("surface", TextureDesc::new(10_000, 1, wgpu::TextureFormat::Rgba8Unorm));
    raster(&mut graph, "draw", |pass| pass.color(target, BLACK));
    assert_eq!(
        refusal(&graph),
        "G009: `surface` needs 10000, over the device's `max_texture_dimension_2d` of 8192; \
         split it, or request a higher limit"
    );
}

#[test]
fn attachments_of_different_size_are_refused() {
    let mut graph = Graph::new();
    let target = graph.target("surface", COLOR);
    let depth = graph.texture("depth", TextureDesc::new(64, 64, wgpu::TextureFormat::Depth32Float));
    raster(&mut graph, "draw", |pass| {
        pass.color(target, BLACK);
        pass.depth(depth, Some(1.0));
    });
    assert_eq!(
        refusal(&graph),
        "G010: raster pass `draw` draws into `depth` of 64x64 with 1 sample and into `surface` of 64x32 with 1 \
         sample; attachments of one pass share size and sample count"
    );
}

#[test]
fn attachments_of_different_sample_count_are_refused() {
    let mut graph = Graph::new();
    let target = graph.target("surface", COLOR);
    let depth = graph.texture("depth", TextureDesc { samples: 4, ..DEPTH });
    raster(&mut graph, "draw", |pass| {
        pass.color(target, BLACK);
        pass.depth(depth, Some(1.0));
    });
    assert_eq!(
        refusal(&graph),
        "G010: raster pass `draw` draws into `depth` of 64x32 with 4 samples and into `surface` of 64x32 with 1 \
         sample; attachments of one pass share size and sample count"
    );
}

#[test]
fn a_colour_format_as_depth_is_refused() {
    let mut graph = Graph::new();
    let target = graph.target("surface", COLOR);
    raster(&mut graph, "draw", |pass| pass.depth(target, Some(1.0)));
    assert_eq!(
        refusal(&graph),
        "G011: raster pass `draw` uses `surface` of format Rgba8Unorm as `depth`; choose a depth format"
    );
}

#[test]
fn an_imported_buffer_without_the_usage_is_refused() {
    let (device, _) = device();
    let plain = buffer(&device, 64, wgpu::BufferUsages::COPY_DST);
    let mut graph = Graph::new();
    let rest = graph.import("rest", &plain);
    compute(&mut graph, "skin", |pass| {
        pass.storage_read(rest);
        pass.keep();
    });
    assert_eq!(
        refusal(&graph),
        "G012: pass `skin` uses imported `rest` as `storage_read`, which needs BufferUsages(STORAGE), but it was \
         created with BufferUsages(COPY_DST); create it with both"
    );
}

#[test]
fn an_exported_value_without_writer_is_refused() {
    let mut graph = Graph::new();
    let vertices = graph.transient("vertices", 64);
    graph.export(vertices);
    compute(&mut graph, "kept", |pass| pass.keep());
    assert_eq!(
        refusal(&graph),
        "G013: exported `vertices` is written by no enabled pass; declare its writer or drop the export"
    );
}

#[test]
fn an_exported_value_that_is_changed_in_place_is_refused() {
    let mut graph = Graph::new();
    let vertices = written(&mut graph, "vertices");
    graph.export(vertices);
    compute(&mut graph, "skin", |pass| pass.keep_modified(vertices));
    assert_eq!(
        refusal(&graph),
        "G014: exported `vertices` is changed in place by `skin`; export the value that `modify` returned"
    );
}

#[test]
fn reading_what_a_disabled_pass_writes_is_refused() {
    let mut graph = Graph::<()>::new();
    let shadow_map = graph.texture("shadow map", DEPTH);
    let surface = graph.target("surface", COLOR);
    let shadow = graph.raster("shadow", |pass| {
        pass.depth(shadow_map, Some(1.0));
        |_, _, _| ()
    });
    raster(&mut graph, "main", |pass| {
        pass.sampled(shadow_map);
        pass.color(surface, BLACK);
    });
    graph.set_enabled(shadow, false);
    assert_eq!(
        refusal(&graph),
        "G015: pass `main` reads `shadow map`, whose writer `shadow` is disabled; disable `main` as well, or \
         enable `shadow`"
    );
}

#[test]
fn an_empty_graph_is_refused() {
    assert_eq!(
        refusal(&Graph::new()),
        "G016: nothing is observable: draw into a target, write an imported buffer, export a value, or `keep` a pass"
    );
}

#[test]
fn all_errors_are_reported_at_once() {
    let mut graph = Graph::new();
    let palette = graph.transient("palette", 64);
    host(&mut graph, "animate", |pass| pass.copy_dst(palette));
    compute(&mut graph, "skin", |pass| {
        pass.vertex(palette);
        pass.keep();
    });
    let lone = graph.transient("lone", 64);
    graph.export(lone);
    let codes: Vec<_> = match graph.compile(&Limits::default()) {
        Err(errors) => errors.iter().map(|error| error.code()).collect(),
        Ok(_) => vec![],
    };
    assert_eq!(codes, ["G005", "G005", "G013"]);
}
