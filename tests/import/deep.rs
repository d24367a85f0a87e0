//! Hierarchies of 100,000 levels, on a stack that would not hold one frame for each.

use std::thread;

use serde_json::json;
use sinew::{CpuDeformer, Model, Precision, import::ImportOptions};

use crate::glb::Glb;

const NODES: usize = 100_000;

/// The triangle with its second joint at the top of a chain.
fn chain() -> Glb {
    let mut glb = Glb::triangle();
    let nodes = glb.json["nodes"].as_array_mut().unwrap();
    nodes[2]["children"] = json!([3]);
    nodes.extend((4..NODES).map(|child| json!({ "children": [child] })));
    nodes.push(json!({}));
    glb
}

fn on_a_small_stack(work: impl FnOnce() + Send + 'static) {
    thread::Builder::new().stack_size(512 << 10).spawn(work).unwrap().join().unwrap();
}

#[test]
fn a_chain_of_100000_nodes_loads_and_is_dropped() {
    on_a_small_stack(|| {
        let model = chain().model();
        assert_eq!((model.skeleton().len(), model.skeleton().depth()), (NODES, NODES as u32 - 1));
        drop(model);
    });
}

#[test]
fn a_chain_of_100000_nodes_is_animated_and_deformed() {
    on_a_small_stack(|| {
        let model = chain().model();
        let mut deformer = CpuDeformer::new();
        let id = deformer.add_model(&model, Precision::Packed).unwrap();
        let instance = deformer.spawn(id).unwrap();
        deformer.animator_mut().play(instance, 0).unwrap();
        deformer.animator_mut().advance(0.5);
        deformer.run().unwrap();
        let tip = deformer.animator().world(instance).unwrap()[NODES - 1];
        // Half way to half a turn around z.
        assert!((tip.matrix3.x_axis.y - 1.0).abs() < 1e-3, "{tip}");
    });
}

#[test]
fn a_chain_of_100000_nodes_is_exported_and_read_back() {
    on_a_small_stack(|| {
        let model = chain().model();
        let back = Model::from_bytes(&model.to_glb().unwrap(), &ImportOptions::default()).unwrap();
        assert_eq!(back.skeleton(), model.skeleton());
    });
}

#[test]
fn a_chain_whose_end_is_its_start_is_refused() {
    on_a_small_stack(|| {
        let mut glb = chain();
        glb.json["nodes"][NODES - 1]["children"] = json!([2]);
        assert_eq!(glb.error(), format!("nodes[2] is a child of nodes[1] and of nodes[{}]", NODES - 1));
        glb.json["nodes"][1] = json!({});
        assert_eq!(glb.error(), "nodes: node 2 is its own ancestor; a hierarchy must be a forest");
    });
}
