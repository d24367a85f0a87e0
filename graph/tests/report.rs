//! A plan as text, DOT, JSON and HTML.
#![expect(clippy::expect_used, reason = "in a helper too, a failed expectation fails the test")]

mod support;

use serde_json::{Value, json};
use sinew_graph::{Graph, Limits, Plan, TextureDesc};

/// Names that each of the formats has to escape.
const HOSTILE: &str = "a \"quoted\" <b> & \\ 'x'\n\t{;}";

const COLOR: TextureDesc = TextureDesc::new(64, 32, wgpu::TextureFormat::Rgba8Unorm);

fn plan() -> Plan {
    let mut graph = Graph::<()>::new();
    let palette = graph.transient("palette", 400);
    let pack = graph.pack("vertices", [("hat", 1000), ("body", 2000), ("unread", 99)]);
    let kept = graph.persistent(HOSTILE, 64);
    let [surface, samples] =
        [graph.target("surface", COLOR), graph.texture("samples", TextureDesc { samples: 4, ..COLOR })];
    graph.host("animate", |pass| {
        pass.upload(palette);
        |_, ()| ()
    });
    graph.compute("deform", |pass| {
        pass.storage_read(palette);
        pass.pack_write(pack);
        |_, _, ()| ()
    });
    let members: Vec<_> = graph.members(pack).collect();
    graph.raster(HOSTILE, |pass| {
        pass.vertex(members[0]);
        pass.vertex(members[1]);
        pass.color_resolve(samples, Some(wgpu::Color::BLACK), surface);
        |_, _, ()| ()
    });
    graph.compute("count", |pass| {
        pass.storage_write(kept);
        |_, _, ()| ()
    });
    let unused = graph.transient("unused", 16);
    graph.compute("nobody", |pass| {
        pass.storage_write(unused);
        |_, _, ()| ()
    });
    graph.compile(&Limits::default()).expect("a valid graph")
}

#[test]
fn json_names_passes_resources_and_totals() {
    let plan = plan();
    let report: Value = serde_json::from_str(&plan.report().titled("T").json()).expect("JSON");
    assert_eq!((&report["schema"], &report["title"]), (&json!(1), &json!("T")));
    let labels: Vec<_> = report["passes"].as_array().expect("a list").iter().map(|p| &p["label"]).collect();
    assert_eq!(labels, ["animate", "deform", HOSTILE, "count"]);
    assert_eq!(
        report["passes"][1],
        json!({
            "label": "deform", "kind": "compute",
            "reads": [{"resource": "palette", "usage": "storage_read", "buffer": 0}],
            "writes": [{"resource": "vertices", "usage": "storage_write", "buffer": 1}],
            "bytes_read": 400, "bytes_written": 3000, "attachments": [],
            "gpu_begin_ns": null, "gpu_end_ns": null,
        })
    );
    assert_eq!(report["passes"][2]["reads"][1], json!({"resource": "body", "usage": "vertex", "buffer": 1}));
    assert_eq!(
        report["passes"][2]["attachments"],
        json!([
            {"role": "color", "texture": "samples", "operations": "clear, discard"},
            {"role": "resolve", "texture": "surface", "operations": "store"},
        ])
    );
    assert_eq!(
        report["buffers"][1],
        json!({
            "label": "vertices", "bytes": 3024, "first": 1, "last": 2, "residence": "transient",
            "arena": 1, "offset": 0,
        })
    );
    assert_eq!(report["buffers"][2]["residence"], "persistent");
    assert_eq!(report["textures"][1]["residence"], "memoryless");
    assert_eq!(report["culled"], json!([{"label": "nobody", "reason": "no pass reads `unused`"}]));
    let totals = &report["totals"];
    assert_eq!(totals["peak_bytes"], plan.peak_bytes());
    assert_eq!((&totals["kept_bytes"], &totals["upload_bytes"]), (&json!(64), &json!(400)));
    assert_eq!(totals["texture_bytes"], 64 * 32 * 4 * 4);
}

#[test]
fn html_is_one_page_with_a_rectangle_per_transient_and_nothing_unescaped() {
    let html = plan().report().titled(HOSTILE).html();
    assert!(html.starts_with("<!doctype html>") && html.trim_end().ends_with("</html>"));
    assert_eq!(html.matches("class=\"place\"").count(), 2 + 1, "two transients and a texture");
    assert_eq!(html.matches("class=\"life\"").count(), 5);
    assert!(html.contains("no pass reads `unused`"));
    assert!(!html.contains("<b> &") && html.contains("a &quot;quoted&quot; &lt;b&gt; &amp; \\ &#39;x&#39;"));
    // Needs nothing else: no scripts, no addresses.
    assert!(!html.contains("<script") && !html.contains("http"));
    for tag in ["svg", "g", "table", "tr", "td", "div", "span", "text"] {
        let opened = html.matches(&format!("<{tag}>")).count() + html.matches(&format!("<{tag} ")).count();
        assert_eq!(opened, html.matches(&format!("</{tag}>")).count(), "{tag}");
    }
}

#[test]
fn dot_has_a_node_per_pass_and_resource_and_quotes_names() {
    let dot = plan().report().dot();
    assert!(dot.starts_with("digraph \"Frame graph\" {") && dot.trim_end().ends_with('}'));
    for node in ["pass0", "pass3", "buffer0", "buffer2", "texture1", "culled0"] {
        assert!(dot.contains(&format!("\n  {node} [")), "{node} in {dot}");
    }
    assert!(dot.contains("\n  buffer0 -> pass1 [label=\"storage_read\"];"));
    assert!(dot.contains("\n  pass1 -> buffer1 [label=\"storage_write\"];"));
    assert!(dot.contains(r#"a \"quoted\" <b> & \\ 'x'\n {;}"#), "{dot}");
    // Every line is a statement: quotes are closed.
    for line in dot.lines() {
        let bare = line.replace("\\\\", "").replace("\\\"", "");
        assert_eq!(bare.matches('"').count() % 2, 0, "{line}");
    }
}

#[test]
fn an_empty_frame_of_kept_passes_can_be_reported_too() {
    let mut graph = Graph::<()>::new();
    graph.host("alone", |pass| {
        pass.keep();
        |_, ()| ()
    });
    let plan = graph.compile(&Limits::default()).expect("a valid graph");
    assert!(plan.report().html().contains("alone"));
    serde_json::from_str::<Value>(&plan.report().json()).expect("JSON");
    assert!(plan.report().dot().contains("pass0"));
    assert!(plan.to_string().contains("host `alone`"));
}
