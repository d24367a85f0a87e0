//! `--skinning` of every command that deforms.

use std::fs;

use glam::Vec3;

use super::{folder, sinew};

const MASCOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/mascot.glb");
const METHODS: [&[&str]; 3] = [&[], &["--skinning", "linear"], &["--skinning", "dual-quaternion"]];

#[test]
fn skinning_is_chosen_for_all_meshes_and_is_linear_otherwise() {
    let folder = folder("skinning");
    let file = MASCOT;
    let picture = |name: &str, more: &[&str]| {
        let out = folder.join(name).to_str().unwrap().to_owned();
        let said = sinew(&[&["-q", "render", file, "-o", &out, "--size", "160x120"], more].concat());
        assert_eq!((said.code, said.error.as_str()), (0, ""), "{name}");
        image::open(out).unwrap().into_rgb8()
    };
    let usual = picture("usual.png", &[]);
    assert_eq!(picture("linear.png", &["--skinning", "linear"]), usual);
    assert_ne!(picture("dual.png", &["--skinning", "dual-quaternion"]), usual);
}

#[test]
fn models_and_numbers_are_baked_by_the_skinning_that_is_chosen() {
    let folder = folder("bake-skinning");
    let bytes = |output: &str, written: &str, more: &[&str], method: &[&str]| {
        let out = folder.join(output);
        let pose = ["-q", "bake", MASCOT, "--clip", "run", "--time", "0.2", "-o", out.to_str().unwrap()];
        let said = sinew(&[&pose[..], more, method].concat());
        assert_eq!((said.code, said.error.as_str()), (0, ""), "{output} {method:?}");
        fs::read(folder.join(written)).unwrap()
    };
    for (output, written, more) in
        [("a.glb", "a.glb", &[][..]), ("a.obj", "a.obj", &[]), ("out", "out/mascot.glb.bin", &["--cpu"])]
    {
        let [usual, linear, dual] = METHODS.map(|method| bytes(output, written, more, method));
        assert!(usual == linear && usual != dual, "{output}");
    }
    // The model and the numbers say the same.
    let numbers = bytes("out", "out/mascot.glb.bin", &["--cpu"], METHODS[2]);
    bytes("a.glb", "a.glb", &[], METHODS[2]);
    let model = sinew::Model::load(folder.join("a.glb")).unwrap();
    let json = fs::read(folder.join("out/mascot.glb.json")).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    let positions = &json["entries"][0]["primitives"][0]["positions"];
    let first = positions["offset"].as_u64().unwrap() as usize;
    let count = positions["floats"].as_u64().unwrap() as usize / 3;
    let primitive = &model.meshes()[0].primitives()[0];
    assert_eq!(primitive.source_vertex_count(), count);
    for (at, number) in numbers[first..].chunks_exact(12).take(count).enumerate() {
        let position: Vec3 = bytemuck::pod_read_unaligned(number);
        let own = primitive.positions()[primitive.deformed_vertices()[at] as usize];
        assert!(position.distance(own) < 1e-6, "{at}: {position} {own}");
    }
}

#[test]
fn a_ray_meets_the_surface_of_the_skinning_that_is_chosen() {
    let pick = |method: &[&str]| {
        let pose = ["-q", "pick", MASCOT, "--clip", "run", "--time", "0.2", "--json"];
        let [a, b] = [["--ray", "0.1,0.8,5,0,0,-1"], ["--ray", "-0.1,0.5,5,0,0,-1"]].map(|ray| {
            let said = sinew(&[&pose[..], &ray, method].concat());
            (said.code, said.stdout)
        });
        [a, b]
    };
    let [usual, linear, dual] = METHODS.map(pick);
    assert!(usual == linear && usual != dual, "{usual:?} {dual:?}");
}
