//! `sinew bake`: what it writes and refuses.

use std::fs;

use super::{folder, sinew, triangle};

#[test]
fn bake_writes_positions_that_follow_the_clip_clamped_at_its_end() {
    let folder = folder("bake");
    let file = triangle(&folder);
    let out = folder.join("out");
    for engine in [&["--cpu"][..], &[]] {
        let arguments = ["-q", "bake", &file, "--clip", "slide", "--time", "9", "-o", out.to_str().unwrap()];
        let said = sinew(&[&arguments, engine].concat());
        assert_eq!((said.code, said.error.as_str()), (0, ""));
        let document: serde_json::Value =
            serde_json::from_slice(&fs::read(out.join("triangle.gltf.json")).unwrap()).unwrap();
        assert_eq!(document["entries"][0]["primitives"][0]["vertexCount"], 3);
        let numbers = fs::read(out.join("triangle.gltf.bin")).unwrap();
        assert_eq!(numbers[..12], [1f32, 0.0, 0.0].map(f32::to_le_bytes).concat());
    }
}

#[test]
fn bake_writes_a_pose_as_a_model_or_as_obj() {
    let folder = folder("posed");
    let file = triangle(&folder);
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    for name in ["out/a.glb", "out/a.obj"] {
        let said = sinew(&["-q", "bake", &file, "--clip", "slide", "--time", "0.5", "-o", &path(name)]);
        assert_eq!((said.code, said.error.as_str()), (0, ""));
    }
    let model = sinew::Model::load(path("out/a.glb")).unwrap();
    assert_eq!((model.clips().len(), model.skins().len()), (0, 0));
    assert_eq!(model.meshes()[0].primitives()[0].positions()[0], glam::Vec3::X * 0.5);
    let obj = fs::read_to_string(path("out/a.obj")).unwrap();
    assert!(obj.contains("v 0.5 0 0\nv 1.5 0 0\nv 0.5 1 0\n"), "{obj}");
    assert!(!folder.join("out/a.mtl").exists(), "the file has no materials");
}

#[test]
fn bake_writes_a_stretch_as_numbered_files_or_as_morph_targets() {
    let folder = folder("stretch");
    let file = triangle(&folder);
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let stretch = ["--clip", "slide", "--from", "0.25", "--to", "0.75", "--fps", "4"];
    let bake = |more: &[&str]| sinew(&[&["-q", "bake", &file], &stretch[..], more].concat());
    assert_eq!(bake(&["-o", &path("a.glb")]).code, 0);
    let x = |name: &str| sinew::Model::load(path(name)).unwrap().meshes()[0].primitives()[0].positions()[0].x;
    assert_eq!([x("a.0001.glb"), x("a.0002.glb"), x("a.0003.glb")], [0.25, 0.5, 0.75]);
    assert!(!folder.join("a.0004.glb").exists() && !folder.join("a.glb").exists());
    for (interpolation, expected) in
        [("step", sinew::model::Interpolation::Step), ("linear", sinew::model::Interpolation::Linear)]
    {
        let said = bake(&["-o", &path("t.glb"), "--targets", "--interpolation", interpolation]);
        assert_eq!((said.code, said.error.as_str()), (0, ""));
        let model = sinew::Model::load(path("t.glb")).unwrap();
        let track = &model.clips()[0].tracks()[0];
        assert_eq!((model.clips()[0].name(), &track.times[..]), ("slide", &[0.0, 0.25, 0.5][..]));
        assert_eq!((track.interpolation, track.width), (expected, 2));
        assert_eq!(track.values, [0.0, 0.0, 1.0, 0.0, 0.0, 1.0]);
    }
}

#[test]
fn bake_says_what_a_wish_for_models_lacks() {
    let folder = folder("wishes");
    let file = triangle(&folder);
    let glb = folder.join("a.glb").to_str().unwrap().to_owned();
    let obj = folder.join("a.obj").to_str().unwrap().to_owned();
    let bake = |more: &[&str]| {
        let said = sinew(&[&["bake", &file, "--clip", "slide"], more].concat());
        (said.code, said.error, said.help)
    };
    let usage = |error: &str, help: &str| (2, format!("error: {error}"), format!("help: {help}"));
    assert_eq!(
        bake(&["-o", &glb, "--from", "0.9", "--to", "0.1"]),
        usage("there is nothing from 0.9 s to 0.1 s", "the clip goes from 0 s to 1 s")
    );
    assert_eq!(
        bake(&["-o", &glb, "--fps", "0"]),
        usage("0 frames a second make no sense", "give a number above 0, such as --fps 30")
    );
    assert_eq!(
        bake(&["-o", &glb, "--targets", "--fps", "1e5"]),
        usage(
            "that would be 100001 frames, more than 2000",
            "lower --fps, or give a shorter stretch with --from and --to"
        )
    );
    assert_eq!(bake(&["-o", &obj, "--targets"]), usage("OBJ has no morph targets", "end the output in .glb"));
    assert_eq!(
        bake(&["-o", folder.to_str().unwrap(), "--fps", "4"]),
        usage(
            "a stretch of a clip is written as models, not as numbers",
            "end the output in .glb or .obj, or give --time"
        )
    );
    assert_eq!(
        bake(&["-o", &glb, "--adapter", "abacus"]),
        usage(
            "--jobs and --adapter are for numbers, not for models",
            "give one file, and a folder as the output for numbers"
        )
    );
    assert_eq!(sinew(&["bake", &file, "-o", &glb, "--fps", "4"]).code, 2, "without a clip");
}

#[test]
fn bake_spares_the_file_that_it_reads() {
    let folder = folder("spares");
    let file = triangle(&folder);
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let first = ["-q", "bake", &file, "-o", &path("a.0002.glb")];
    assert_eq!(sinew(&first).code, 0);
    let (glb, model) = (path("a.0002.glb"), fs::read(path("a.0002.glb")).unwrap());
    for copy in ["b.glb", "c.obj", "c.mtl", "d.glb"] {
        fs::write(path(copy), &model).unwrap();
    }
    let stretch = ["--clip", "slide", "--fps", "4"];
    fs::copy(&file, path("a.0003.obj")).unwrap();
    for (input, output, more) in [
        (glb.as_str(), glb.clone(), &[][..]),
        (&path("b.glb"), path("./b.glb"), &[]),
        (&path("c.obj"), path("c.obj"), &[]),
        (&path("c.mtl"), path("c.obj"), &[]),
        (&path("a.0003.obj"), path("a.obj"), &stretch),
        (&path("d.glb"), path("out"), &["--cpu", "--capture", &path("d.glb")]),
    ] {
        let before = fs::read(input).unwrap();
        let said = sinew(&[&["-q", "bake", input, "-o", &output], more].concat());
        assert_eq!((said.code, said.help.as_str()), (2, "help: write to another file"), "{input} {output}");
        assert!(said.error.ends_with("` is the file itself"), "{}", said.error);
        assert_eq!(fs::read(input).unwrap(), before);
    }
}

#[test]
fn a_file_without_meshes_is_baked_to_no_numbers_and_no_model() {
    let folder = folder("empty");
    let file = folder.join("empty.gltf").to_str().unwrap().to_owned();
    fs::write(&file, r#"{ "asset": { "version": "2.0" } }"#).unwrap();
    let out = folder.join("out");
    let bake = |output: &str| sinew(&["-q", "bake", "--cpu", &file, "-o", output]);
    assert_eq!(bake(out.to_str().unwrap()).code, 0);
    let json = fs::read(out.join("empty.gltf.json")).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    assert_eq!(json["entries"][0]["primitives"], serde_json::json!([]));
    let said = bake(folder.join("a.glb").to_str().unwrap());
    assert_eq!((said.code, said.error), (1, format!("error: the scene of `{file}` has no meshes")));
    let said = sinew(&["-q", "pick", &file, "--ray", "0,0,1,0,0,-1"]);
    assert_eq!((said.code, said.error.as_str()), (3, "error: the ray hits nothing"));
}

#[test]
fn times_that_are_no_numbers_are_usage_errors() {
    let folder = folder("times");
    let file = triangle(&folder);
    let glb = folder.join("a.glb").to_str().unwrap().to_owned();
    for time in ["nan", "inf", "-1", "soon"] {
        for option in ["--time", "--from", "--to"] {
            let wish = format!("{option}={time}");
            let said = sinew(&["bake", &file, "--clip", "slide", "-o", &glb, &wish]);
            assert_eq!(said.code, 2, "{wish}");
            assert!(said.error.ends_with("give seconds, such as 0.5"), "{}", said.error);
        }
        let time = format!("--time={time}");
        assert_eq!(sinew(&["pick", &file, "--clip", "slide", &time, "--ray", "0,0,1,0,0,-1"]).code, 2);
    }
}

#[test]
fn a_capture_of_a_model_that_is_baked_is_a_usage_error() {
    let folder = folder("no-capture");
    let file = triangle(&folder);
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    for output in ["a.glb", "a.obj"] {
        let said = sinew(&["bake", &file, "-o", &path(output), "--capture", &path("a.capture")]);
        assert_eq!((said.code, said.error.as_str()), (2, "error: --capture is for numbers, not for models"));
        assert_eq!(said.help, "help: give a folder as the output, or leave --capture away");
        assert!(!folder.join(output).exists());
    }
}

#[test]
fn a_job_list_names_the_files_that_fail_and_bakes_the_others() {
    let folder = folder("jobs");
    triangle(&folder);
    let jobs = folder.join("jobs.json");
    let list = r#"[{"file": "gone.glb", "clip": null, "time": 0}, {"file": "triangle.gltf", "clip": 0, "time": 0.5}]"#;
    fs::write(&jobs, list).unwrap();
    let (root, out) = (folder.to_str().unwrap(), folder.join("out"));
    let said = sinew(&[
        "-q",
        "bake",
        "--cpu",
        "--jobs",
        jobs.to_str().unwrap(),
        "--root",
        root,
        "-o",
        out.to_str().unwrap(),
    ]);
    assert_eq!(said.code, 1);
    assert!(said.error.ends_with("gone.glb` does not exist"), "{}", said.error);
    assert!(out.join("triangle.gltf.json").exists());
}

#[test]
fn bake_names_the_kinds_of_models_that_it_does_not_write() {
    let folder = folder("kinds");
    let file = triangle(&folder);
    for kind in ["fbx", "gltf", "USDZ"] {
        let out = folder.join(format!("a.{kind}"));
        let said = sinew(&["bake", &file, "-o", out.to_str().unwrap()]);
        assert_eq!(said.code, 2, "{kind}");
        assert!(
            said.error.contains(&format!("models are not written as .{}", kind.to_lowercase())),
            "{}",
            said.error
        );
        assert!(!out.exists());
    }
}
