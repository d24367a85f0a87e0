//! What the compiler decides, read off the plan.
#![expect(clippy::expect_used, reason = "in a helper too, a failed expectation fails the test")]

mod support;

use sinew_graph::{Buffer, CullReason, Declare, Graph, Limits, Plan, TextureDesc};
use support::{buffer, device, trace};

const COLOR: TextureDesc = TextureDesc::new(64, 32, wgpu::TextureFormat::Rgba8Unorm);
const DEPTH: TextureDesc = TextureDesc::new(64, 32, wgpu::TextureFormat::Depth32Float);
const BLACK: Option<wgpu::Color> = Some(wgpu::Color::BLACK);

fn compute<R>(
    graph: &mut Graph<()>,
    label: &'static str,
    declare: impl FnOnce(&mut Declare<'_>) -> R,
) -> sinew_graph::Pass {
    graph.compute(label, |pass| {
        declare(pass);
        |_, _, _| ()
    })
}

fn raster<R>(
    graph: &mut Graph<()>,
    label: &'static str,
    declare: impl FnOnce(&mut Declare<'_>) -> R,
) -> sinew_graph::Pass {
    graph.raster(label, |pass| {
        declare(pass);
        |_, _, _| ()
    })
}

/// A pass that reads `from` and writes a new transient of `size` bytes.
fn step(graph: &mut Graph<()>, label: &'static str, from: &[Buffer], size: u64) -> Buffer {
    let to = graph.transient(label, size);
    compute(graph, label, |pass| {
        for &from in from {
            pass.storage_read(from);
        }
        pass.storage_write(to);
    });
    to
}

fn compile(graph: &Graph<()>) -> Plan {
    graph.compile(&Limits::default()).expect("a valid graph")
}

#[test]
fn passes_run_in_the_order_of_their_data() {
    let mut graph = Graph::new();
    let [a, b] = ["a", "b"].map(|label| graph.transient(label, 64));
    compute(&mut graph, "last", |pass| {
        pass.storage_read(b);
        pass.keep();
    });
    compute(&mut graph, "middle", |pass| {
        pass.storage_read(a);
        pass.storage_write(b);
    });
    compute(&mut graph, "first", |pass| pass.storage_write(a));
    assert_eq!(trace(&compile(&graph)), "first middle last");
}

#[test]
fn independent_passes_keep_the_order_of_declaration() {
    let mut graph = Graph::new();
    for label in ["one", "two", "three"] {
        compute(&mut graph, label, |pass| pass.keep());
    }
    assert_eq!(trace(&compile(&graph)), "one two three");
}

#[test]
fn readers_of_the_old_value_run_before_the_pass_that_changes_it() {
    let mut graph = Graph::new();
    let rest = step(&mut graph, "rest", &[], 64);
    let mut posed = rest;
    compute(&mut graph, "pose", |pass| (_, posed) = pass.modify(rest));
    for (label, value) in [("after", posed), ("before", rest)] {
        compute(&mut graph, label, |pass| {
            pass.storage_read(value);
            pass.keep();
        });
    }
    assert_eq!(trace(&compile(&graph)), "rest before pose after");
}

#[test]
fn a_reader_of_the_old_value_is_not_kept_by_the_pass_that_changes_it() {
    let mut graph = Graph::new();
    let rest = step(&mut graph, "rest", &[], 64);
    step(&mut graph, "unread", &[rest], 64);
    let mut posed = rest;
    compute(&mut graph, "pose", |pass| (_, posed) = pass.modify(rest));
    graph.export(posed);
    assert_eq!(trace(&compile(&graph)), "rest pose");
}

#[test]
fn a_disabled_modifier_leaves_the_value_as_it_was() {
    let mut graph = Graph::new();
    let rest = step(&mut graph, "rest", &[], 64);
    let mut posed = rest;
    let pose = compute(&mut graph, "pose", |pass| (_, posed) = pass.modify(rest));
    step(&mut graph, "read", &[posed], 64);
    compute(&mut graph, "show", |pass| {
        pass.storage_read(posed);
        pass.keep();
    });
    graph.set_enabled(pose, false);
    assert_eq!(trace(&compile(&graph)), "rest show");
}

#[test]
fn passes_that_nothing_reads_are_culled_with_their_reason() {
    let mut graph = Graph::new();
    let a = step(&mut graph, "a", &[], 64);
    step(&mut graph, "b", &[a], 64);
    compute(&mut graph, "idle", |_| ());
    let off = compute(&mut graph, "off", |pass| pass.keep());
    graph.set_enabled(off, false);
    compute(&mut graph, "kept", |pass| pass.keep());
    let plan = compile(&graph);
    assert_eq!(trace(&plan), "kept");
    let reasons: Vec<_> = plan.culled().iter().map(|c| format!("{}: {}", c.label, c.reason)).collect();
    assert_eq!(
        reasons,
        ["a: no pass reads `a`", "b: no pass reads `b`", "idle: writes nothing", "off: disabled"]
    );
}

#[test]
fn writing_an_imported_buffer_keeps_a_pass() {
    let (device, _) = device();
    let mut graph = Graph::new();
    let kept = graph.import("kept", &buffer(&device, 64, wgpu::BufferUsages::STORAGE));
    compute(&mut graph, "write", |pass| pass.storage_write(kept));
    assert_eq!(trace(&compile(&graph)), "write");
}

#[test]
fn importing_a_buffer_twice_gives_one_value() {
    let (device, _) = device();
    let shared = buffer(&device, 64, wgpu::BufferUsages::STORAGE);
    let mut graph = Graph::<()>::new();
    assert_eq!(graph.import("once", &shared), graph.import("twice", &shared));
}

/// A pack of three members of 20 bytes, of which the pass `draw` reads the first and the last.
fn pack_of_three(graph: &mut Graph<()>) -> (Vec<Buffer>, sinew_graph::Pass) {
    let pack = graph.pack("vertices", [("a", 20), ("b", 20), ("c", 20)]);
    let members: Vec<_> = graph.members(pack).collect();
    compute(graph, "skin", |pass| pass.pack_write(pack));
    let surface = graph.target("surface", COLOR);
    let draw = raster(graph, "draw", |pass| {
        pass.vertex(members[0]);
        pass.vertex(members[2]);
        pass.color(surface, BLACK);
    });
    (members, draw)
}

#[test]
fn a_member_that_nobody_reads_is_dropped() {
    let mut graph = Graph::new();
    let (members, _) = pack_of_three(&mut graph);
    let plan = compile(&graph);
    assert_eq!(members.iter().map(|&m| plan.is_live(m)).collect::<Vec<_>>(), [true, false, true]);
    assert_eq!(
        members.iter().map(|&m| plan.offset_in_pack(m)).collect::<Vec<_>>(),
        [Some(0), None, Some(256)]
    );
}

#[test]
fn the_writer_of_a_pack_that_nobody_reads_is_culled() {
    let mut graph = Graph::new();
    let (members, draw) = pack_of_three(&mut graph);
    graph.set_enabled(draw, false);
    compute(&mut graph, "other", |pass| pass.keep());
    let plan = compile(&graph);
    assert_eq!(trace(&plan), "other");
    assert!(members.iter().all(|&member| !plan.is_live(member)));
    let reason = CullReason::Unread { resources: vec!["vertices".into()] };
    assert!(plan.culled().iter().any(|pass| pass.label == "skin" && pass.reason == reason));
}

#[test]
fn a_kept_writer_of_an_unread_pack_has_its_first_member_to_bind() {
    let mut graph = Graph::new();
    let pack = graph.pack("vertices", [("a", 20), ("b", 20)]);
    compute(&mut graph, "skin", |pass| {
        pass.pack_write(pack);
        pass.keep();
    });
    let plan = compile(&graph);
    assert_eq!(graph.members(pack).map(|member| plan.is_live(member)).collect::<Vec<_>>(), [true, false]);
}

#[test]
fn reading_the_pack_keeps_every_member() {
    let mut graph = Graph::new();
    let pack = graph.pack("vertices", [("a", 20), ("b", 20)]);
    compute(&mut graph, "skin", |pass| pass.pack_write(pack));
    compute(&mut graph, "bounds", |pass| {
        pass.pack_read(pack);
        pass.keep();
    });
    let plan = compile(&graph);
    assert!(graph.members(pack).all(|member| plan.is_live(member)));
}

#[test]
fn buffers_of_another_graph_are_not_live() {
    let mut graph = Graph::new();
    pack_of_three(&mut graph);
    let foreign = Graph::<()>::new().transient("foreign", 4);
    assert!(!compile(&graph).is_live(foreign));
}

#[test]
fn values_that_do_not_live_together_share_bytes() {
    let mut graph = Graph::new();
    let a = step(&mut graph, "a", &[], 4096);
    let b = step(&mut graph, "b", &[a], 4096);
    let c = step(&mut graph, "c", &[b], 4096);
    compute(&mut graph, "show", |pass| {
        pass.storage_read(c);
        pass.keep();
    });
    let plan = compile(&graph);
    assert_eq!((plan.unaliased_bytes(), plan.peak_bytes(), plan.live_bytes()), (12288, 8192, 8192));
}

#[test]
fn an_exported_value_lives_to_the_end_of_the_frame() {
    let mut graph = Graph::new();
    let a = step(&mut graph, "a", &[], 4096);
    graph.export(a);
    let b = step(&mut graph, "b", &[], 4096);
    compute(&mut graph, "show", |pass| {
        pass.storage_read(b);
        pass.keep();
    });
    let plan = compile(&graph);
    assert_eq!((plan.buffers()[0].first, plan.buffers()[0].last), (0, 2));
}

#[test]
fn an_arena_that_would_outgrow_a_buffer_is_split() {
    let mut graph = Graph::new();
    let limits = Limits { max_buffer_size: 1000, max_storage_binding: 1000, ..Limits::default() };
    for label in ["a", "b"] {
        let value = step(&mut graph, label, &[], 700);
        graph.export(value);
    }
    let plan = graph.compile(&limits).expect("each fits");
    assert_eq!(plan.arenas().iter().map(|arena| arena.size).collect::<Vec<_>>(), [700, 700]);
}

#[test]
fn a_zero_sized_transient_takes_four_bytes() {
    let mut graph = Graph::new();
    let empty = step(&mut graph, "empty", &[], 0);
    graph.export(empty);
    assert_eq!(compile(&graph).buffers()[0].size, 4);
}

#[test]
fn passes_that_draw_into_one_target_keep_their_order() {
    let mut graph = Graph::new();
    let surface = graph.target("surface", COLOR);
    raster(&mut graph, "sky", |pass| pass.color(surface, BLACK));
    raster(&mut graph, "main", |pass| pass.color(surface, None));
    assert_eq!(trace(&compile(&graph)), "sky main");
}

#[test]
fn the_same_declarations_give_equal_plans() {
    let plan = || {
        let mut graph = Graph::new();
        pack_of_three(&mut graph);
        compile(&graph)
    };
    assert_eq!(plan(), plan());
}

#[test]
fn a_switch_back_restores_the_fingerprint() {
    let mut graph = Graph::new();
    let (_, draw) = pack_of_three(&mut graph);
    compute(&mut graph, "other", |pass| pass.keep());
    let before = compile(&graph);
    graph.set_enabled(draw, false);
    let without = compile(&graph);
    graph.set_enabled(draw, true);
    assert_ne!(before.fingerprint(), without.fingerprint());
    assert_eq!(before, compile(&graph));
}

#[test]
fn a_plan_prints_its_passes_buffers_and_culled_passes() {
    let mut graph = Graph::new();
    pack_of_three(&mut graph);
    let depth = graph.texture("unused depth", DEPTH);
    raster(&mut graph, "prepass", |pass| pass.depth(depth, Some(1.0)));
    let text = compile(&graph).to_string();
    let lines: Vec<_> = text.lines().skip(1).collect();
    assert_eq!(
        lines,
        [
            "  buffers: 276 bytes in 1 arena (276 without aliasing, at least 276 alive at once), 0 kept",
            "  pass 0: compute `skin` reads 0 writes 40",
            "  pass 1: raster `draw` reads 40 writes 0",
            "    color `surface`: clear, store",
            "  buffer `vertices`: 276 bytes, passes 0..=1, arena 0 at 0",
            "  texture `surface`: 64x32 Rgba8Unorm, passes 1..=1, target",
            "  culled `prepass`: no pass reads `unused depth`",
        ]
    );
}

/// The lines of the plan that tell what passes do to their attachments.
fn attachments(graph: &Graph<()>) -> Vec<String> {
    let text = compile(graph).to_string();
    text.lines().filter_map(|line| line.strip_prefix("    ")).map(str::to_owned).collect()
}

#[test]
fn attachments_are_stored_only_for_who_sees_them_later() {
    let mut graph = Graph::new();
    let surface = graph.target("surface", COLOR);
    let shadow = graph.texture("shadow", DEPTH);
    let depth = graph.texture("depth", DEPTH);
    raster(&mut graph, "shadow", |pass| pass.depth(shadow, Some(1.0)));
    raster(&mut graph, "prepass", |pass| pass.depth(depth, Some(1.0)));
    raster(&mut graph, "main", |pass| {
        pass.sampled(shadow);
        pass.color(surface, BLACK);
        pass.depth(depth, None);
    });
    raster(&mut graph, "overlay", |pass| pass.color(surface, None));
    assert_eq!(
        attachments(&graph),
        [
            "depth `shadow`: clear, store",
            "depth `depth`: clear, store",
            "color `surface`: clear, store",
            "depth `depth`: load, discard",
            "color `surface`: load, store",
        ]
    );
}

#[test]
fn a_multisampled_surface_is_discarded_once_resolved() {
    let mut graph = Graph::new();
    let surface = graph.target("surface", COLOR);
    let samples = graph.texture("samples", TextureDesc { samples: 4, ..COLOR });
    let depth = graph.texture("depth", TextureDesc { samples: 4, ..DEPTH });
    raster(&mut graph, "prepass", |pass| pass.depth(depth, Some(1.0)));
    raster(&mut graph, "main", |pass| {
        pass.color_resolve(samples, BLACK, surface);
        pass.depth_read(depth);
    });
    assert_eq!(
        attachments(&graph),
        [
            "depth `depth`: clear, store",
            "color `samples`: clear, discard",
            "resolve `surface`: store",
            "depth `depth`: read only",
        ]
    );
}

#[test]
fn what_a_later_pass_clears_is_not_stored() {
    let mut graph = Graph::new();
    let surface = graph.target("surface", COLOR);
    for label in ["first", "second"] {
        raster(&mut graph, label, |pass| pass.color(surface, BLACK));
    }
    assert_eq!(attachments(&graph), ["color `surface`: clear, discard", "color `surface`: clear, store"]);
}

#[test]
fn textures_that_do_not_live_together_share_a_slot() {
    let mut graph = Graph::new();
    let surface = graph.target("surface", COLOR);
    let [a, b, c] = ["a", "b", "c"].map(|label| graph.texture(label, COLOR));
    for (from, to) in [(None, a), (Some(a), b), (Some(b), c), (Some(c), surface)] {
        raster(&mut graph, "blur", |pass| {
            from.map(|from| pass.sampled(from));
            pass.color(to, BLACK);
        });
    }
    let text = compile(&graph).to_string();
    let slots: Vec<_> =
        text.lines().filter_map(|line| line.split_once("slot ")).map(|(_, slot)| slot).collect();
    assert_eq!(slots, ["0", "1", "0"]);
}

/// A texture's writers are ordered through each other: one that is culled must not take that with it.
#[test]
fn a_culled_writer_of_a_texture_leaves_the_order_of_its_neighbours() {
    let mut graph = Graph::new();
    let texture = graph.texture("texture", COLOR);
    let [b, c, first, last] = ["b", "c", "first", "last"].map(|label| graph.transient(label, 16));
    compute(&mut graph, "write 1", |pass| {
        pass.storage_read(b);
        pass.storage_texture_write(texture);
    });
    compute(&mut graph, "read 1", |pass| {
        pass.sampled(texture);
        pass.storage_write(first);
    });
    compute(&mut graph, "write 2", |pass| {
        pass.storage_texture_write(texture);
    });
    compute(&mut graph, "write 3", |pass| {
        pass.storage_texture_write(texture);
    });
    compute(&mut graph, "read 3", |pass| {
        pass.sampled(texture);
        pass.storage_read(c);
        pass.storage_write(last);
    });
    for (label, value) in [("b", b), ("c", c)] {
        compute(&mut graph, label, |pass| {
            pass.storage_write(value);
        });
    }
    graph.export(first);
    graph.export(last);
    assert_eq!(trace(&compile(&graph)), "b write 1 read 1 write 3 c read 3");
}

#[test]
fn the_side_of_a_history_that_is_read_is_stored_for_the_next_frame() {
    let mut graph = Graph::new();
    let history = graph.history_texture("history", COLOR);
    raster(&mut graph, "over", |pass| {
        pass.color(history.previous, None);
        pass.keep();
    });
    assert_eq!(attachments(&graph), ["color `history (previous)`: load, store"]);
}

#[test]
fn a_pack_without_members_takes_four_bytes() {
    let mut graph = Graph::new();
    let pack = graph.pack("pack", Vec::<(&str, u64)>::new());
    compute(&mut graph, "write", |pass| {
        pass.pack_write(pack);
        pass.keep();
    });
    assert_eq!(compile(&graph).buffers()[0].size, 4);
}

/// Labels of one pack's members that spell another declaration are not that declaration.
#[test]
fn the_number_of_members_is_part_of_a_packs_shape() {
    let fingerprint = |members: &[(&'static str, u64)]| {
        let mut graph = Graph::new();
        let pack = graph.pack("pack", members.iter().copied());
        compute(&mut graph, "write", |pass| {
            pass.pack_write(pack);
            pass.keep();
        });
        compile(&graph).fingerprint()
    };
    assert_ne!(fingerprint(&[("a", 4)]), fingerprint(&[("a", 4), ("b", 4)]));
}

#[test]
fn a_plan_with_a_clear_colour_that_is_no_number_equals_its_clone() {
    let mut graph = Graph::new();
    let surface = graph.target("surface", COLOR);
    raster(&mut graph, "main", |pass| {
        pass.color(surface, Some(wgpu::Color { r: f64::NAN, ..wgpu::Color::BLACK }));
    });
    let plan = compile(&graph);
    assert_eq!(plan, plan.clone());
}
