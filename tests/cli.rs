//! The program from outside: exit codes, and the first line of what it says.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]
#![cfg(feature = "cli")]

use std::{fs, path::PathBuf, process::Command};

struct Said {
    code: i32,
    stdout: String,
    /// First and second line of stderr.
    error: String,
    help: String,
}

fn sinew(arguments: &[&str]) -> Said {
    // Mesa's Vulkan layer complains on stderr where this is not set.
    let output = Command::new(env!("CARGO_BIN_EXE_sinew"))
        .env("XDG_RUNTIME_DIR", std::env::temp_dir())
        .args(arguments)
        .output()
        .unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    let mut lines = stderr.lines().map(str::to_owned);
    Said {
        code: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        error: lines.next().unwrap_or_default(),
        help: lines.next().unwrap_or_default(),
    }
}

/// A folder of this test's own, empty.
fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("sinew-cli-{}-{name}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// One triangle that moves a metre to the right in a second.
fn triangle(folder: &std::path::Path) -> String {
    let floats: [f32; 17] = [
        0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, // positions
        0.0, 1.0, // times
        0.0, 0.0, 0.0, 1.0, 0.0, 0.0, // translations
    ];
    let bytes: Vec<u8> = floats.iter().flat_map(|f| f.to_le_bytes()).collect();
    fs::write(folder.join("triangle.bin"), &bytes).unwrap();
    let json = r#"{
        "asset": { "version": "2.0" },
        "buffers": [{ "uri": "triangle.bin", "byteLength": 68 }],
        "bufferViews": [
            { "buffer": 0, "byteOffset": 0, "byteLength": 36 },
            { "buffer": 0, "byteOffset": 36, "byteLength": 8 },
            { "buffer": 0, "byteOffset": 44, "byteLength": 24 }
        ],
        "accessors": [
            { "bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3", "min": [0, 0, 0], "max": [1, 1, 0] },
            { "bufferView": 1, "componentType": 5126, "count": 2, "type": "SCALAR", "min": [0], "max": [1] },
            { "bufferView": 2, "componentType": 5126, "count": 2, "type": "VEC3" }
        ],
        "meshes": [{ "primitives": [{ "attributes": { "POSITION": 0 } }] }],
        "nodes": [{ "mesh": 0 }],
        "scenes": [{ "nodes": [0] }],
        "scene": 0,
        "animations": [{
            "name": "slide",
            "channels": [{ "sampler": 0, "target": { "node": 0, "path": "translation" } }],
            "samplers": [{ "input": 1, "output": 2 }]
        }]
    }"#;
    let path = folder.join("triangle.gltf");
    fs::write(&path, json).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn help_works_for_the_program_and_every_command() {
    assert_eq!(sinew(&["--help"]).code, 0);
    for command in ["inspect", "render", "bake", "pick", "retarget", "graph", "doctor"] {
        let said = sinew(&[command, "--help"]);
        assert_eq!(said.code, 0, "{command}");
        assert!(said.stdout.contains("Usage: sinew"), "{}", said.stdout);
    }
}

#[test]
fn a_missing_file_fails_with_one_line_and_help() {
    let said = sinew(&["render", "no/such.glb", "-o", "out.png"]);
    assert_eq!((said.code, said.error.as_str()), (1, "error: `no/such.glb` does not exist"));
    assert_eq!(said.help, "help: give the path of a .gltf or .glb file");
}

#[test]
fn a_clip_that_does_not_exist_is_answered_with_those_that_do() {
    let folder = folder("clip");
    let file = triangle(&folder);
    let said = sinew(&["render", &file, "-o", "out.png", "--clip", "Run"]);
    assert_eq!((said.code, said.error), (1, format!("error: `{file}` has no clip `Run`")));
    assert_eq!(said.help, "help: its clips are 0 `slide`");
}

#[test]
fn wrong_arguments_are_usage_errors() {
    let said = sinew(&["render", "a.glb", "-o", "a.png", "--size", "640"]);
    let line = "error: invalid value '640' for '--size <WIDTHxHEIGHT>': give width and height from 1 to 16384, such as 640x480";
    assert_eq!((said.code, said.error.as_str()), (2, line));
    let said = sinew(&["render", "a.glb", "-o", "a.png", "--frames", "0"]);
    assert_eq!(said.code, 2);
    let said = sinew(&["render", "a.glb", "-o", "a.bmp"]);
    assert_eq!((said.code, said.error.as_str()), (2, "error: `a.bmp` does not say what to write"));
    let said = sinew(&["render", "a.glb", "-o", "a.png", "--frames", "3"]);
    assert_eq!(
        (said.code, said.error.as_str()),
        (2, "error: --frames draws several pictures, but a .png holds one")
    );
    assert_eq!(sinew(&[]).code, 2);
    assert_eq!(sinew(&["paint"]).code, 2);
}

#[test]
fn an_adapter_that_does_not_exist_is_answered_with_those_that_do() {
    let folder = folder("adapter");
    let file = triangle(&folder);
    let said = sinew(&["render", &file, "-o", "out.png", "--adapter", "abacus"]);
    assert_eq!((said.code, said.error.as_str()), (1, "error: no adapter is called `abacus`"));
    assert!(said.help.starts_with("help: there are "), "{}", said.help);
}

#[test]
fn pictures_are_written_in_every_format() {
    let folder = folder("formats");
    let file = triangle(&folder);
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    for name in ["still.png", "loop.gif", "loop.apng", "frames/"] {
        let (trace, out) = (path("trace.json"), path(name));
        let said =
            sinew(&["-q", "render", &file, "-o", &out, "--size", "33x20", "--fps", "4", "--trace", &trace]);
        assert_eq!((said.code, said.error.as_str()), (0, ""), "{name}");
        let trace: serde_json::Value = serde_json::from_slice(&fs::read(trace).unwrap()).unwrap();
        assert!(trace.as_array().unwrap().iter().any(|event| event["name"] == "pass lit"));
    }
    let still = image::open(path("still.png")).unwrap().into_rgb8();
    assert_eq!(still.dimensions(), (33, 20));
    assert!(still.pixels().any(|pixel| pixel != still.get_pixel(0, 0)), "something is drawn");
    assert_eq!(fs::read_dir(folder.join("frames")).unwrap().count(), 4);
    assert!(folder.join("frames/0003.png").exists());
}

#[test]
fn a_frame_graph_is_written_in_the_format_that_its_name_says() {
    let folder = folder("graph");
    let file = triangle(&folder);
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    for (name, start) in
        [("a.txt", "plan "), ("a.dot", "digraph "), ("a.json", "{"), ("a.html", "<!doctype html>")]
    {
        let said = sinew(&["-q", "graph", &file, "-o", &path(name), "--size", "32x32"]);
        assert_eq!((said.code, said.error.as_str()), (0, ""), "{name}");
        let text = fs::read_to_string(path(name)).unwrap();
        assert!(text.starts_with(start) && text.contains("deform"), "{name}: {text}");
    }
    let said = sinew(&["-q", "graph", &file, "--format", "json", "--size", "32x32"]);
    let report: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(report["passes"].as_array().unwrap().len(), 4);
    let said = sinew(&["graph", &file, "-o", &path("a.svg")]);
    assert_eq!(said.code, 2);
    assert_eq!(said.help, "help: end it in .txt, .dot, .json or .html, or give --format");
}

#[test]
fn clips_are_blended_and_nodes_hidden() {
    let folder = folder("blend");
    let file = triangle(&folder);
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let picture = |name: &str, more: &[&str]| {
        let out = path(name);
        let said =
            sinew(&[&["-q", "render", &file, "-o", &out, "--size", "32x32", "--time", "1"], more].concat());
        assert_eq!((said.code, said.error.as_str()), (0, ""), "{name}");
        image::open(out).unwrap().into_rgb8()
    };
    let clip = picture("clip.png", &["--clip", "slide"]);
    assert_eq!(picture("blend.png", &["--blend", "slide:0.5,0:0.5"]), clip);
    let hidden = picture("hidden.png", &["--hide", "0"]);
    assert!(hidden.pixels().all(|pixel| pixel == hidden.get_pixel(0, 0)), "nothing is drawn");
    let said = sinew(&["render", &file, "-o", "out.png", "--blend", "slide"]);
    assert_eq!((said.code, said.error.as_str()), (2, "error: `slide` is not a clip with its weight"));
    let said = sinew(&["render", &file, "-o", "out.png", "--hide", "tail"]);
    assert_eq!((said.code, said.error), (1, format!("error: `{file}` has no node `tail`")));
}

#[test]
fn skinning_is_chosen_for_all_meshes_and_is_linear_otherwise() {
    let folder = folder("skinning");
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/mascot.glb");
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
fn pick_prints_the_hit_and_ends_with_3_where_there_is_none() {
    let folder = folder("pick");
    let file = triangle(&folder);
    let pick = |ray: &str, more: &[&str]| {
        sinew(&[&["-q", "pick", &file, "--clip", "slide", "--time", "1", "--ray", ray], more].concat())
    };
    let said = pick("1.25,0.5,2,0,0,-1", &["--json"]);
    assert_eq!((said.code, said.error.as_str()), (0, ""));
    let hit: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(hit["distance"], 2.0);
    assert_eq!(hit["position"], serde_json::json!([1.25, 0.5, 0.0]));
    assert_eq!(hit["barycentrics"], serde_json::json!([0.25, 0.25, 0.5]));
    assert_eq!(
        (&hit["triangle"], &hit["vertices"], &hit["front"]),
        (&0.into(), &serde_json::json!([0, 1, 2]), &true.into())
    );
    let said = pick("1.25,0.5,2,0,0,-1", &[]);
    assert!(said.stdout.starts_with("hit after 2 m, front\n  position 1.25 0.5 0\n"), "{}", said.stdout);
    // Where the triangle is at rest.
    let said = pick("0.25,0.5,2,0,0,-1", &["--json"]);
    assert_eq!((said.code, said.stdout.as_str()), (3, "null\n"));
    assert_eq!(said.error, "error: the ray hits nothing");
    assert_eq!(pick("1.25,0.5,-2,0,0,1", &["--sides", "front"]).code, 3);
    assert_eq!(pick("1.25,0.5,-2,0,0,1", &[]).code, 0);
    for ray in ["1,2,3", "0,0,0,0,0,0", "0,0,NaN,0,0,1", "a,b,c,d,e,f"] {
        assert_eq!(pick(ray, &[]).code, 2, "{ray}");
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
fn doctor_lists_what_it_found() {
    let said = sinew(&["doctor"]);
    assert!(said.stdout.starts_with("sinew "), "{}", said.stdout);
    assert!(said.code == 0 || said.error.starts_with("error: no "), "{}", said.error);
}

#[test]
fn inspect_tells_what_a_clip_takes_raw_and_compressed() {
    let demo = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/mascot.glb");
    let said = sinew(&["inspect", demo]);
    let line = |clip: &str| said.stdout.lines().find(|line| line.contains(clip)).unwrap().to_owned();
    assert_eq!(said.code, 0);
    assert!(
        line("walk").contains("38 channels, 737 keys, linear, 16640 bytes; compressed 8550 bytes, off by")
    );
    assert!(
        line("wave").contains("cubic spline, 40888 bytes; compressed 1152 bytes and 35 tracks as they are")
    );
    let json = sinew(&["inspect", "--json", demo]).stdout;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let walk = &json["clips"][1];
    assert_eq!((walk["bytes"].as_u64(), walk["compressed"]["bytes"].as_u64()), (Some(16640), Some(8550)));
    assert!(walk["compressed"]["error"].as_f64().unwrap() < 1e-4);
}

#[test]
fn inspect_takes_a_hierarchy_of_100000_levels() {
    let folder = folder("deep");
    let nodes: Vec<String> = (1..100_000).map(|child| format!(r#"{{"children":[{child}]}}"#)).collect();
    let json = format!(r#"{{"asset":{{"version":"2.0"}},"nodes":[{},{{}}]}}"#, nodes.join(","));
    let file = folder.join("deep.gltf");
    fs::write(&file, json).unwrap();
    for arguments in [vec!["inspect"], vec!["inspect", "--json"]] {
        let said = sinew(&[&arguments[..], &[file.to_str().unwrap()]].concat());
        assert_eq!((said.code, said.error.as_str()), (0, ""));
        assert!(said.stdout.contains("100000"), "{}", said.stdout);
    }
    fs::remove_dir_all(folder).unwrap();
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_behind_stdout_is_one_line_and_a_closed_pipe_is_nothing() {
    let folder = folder("full");
    let file = triangle(&folder);
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_sinew")).args(["inspect", &file]).stdout(full).output();
    let output = output.unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stderr).unwrap().starts_with("error: cannot write the result: "));

    let mut child = Command::new(env!("CARGO_BIN_EXE_sinew"))
        .args(["inspect", "--json", &file])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0));
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_captured_frame_is_replayed_and_a_changed_one_is_found() {
    let folder = folder("capture");
    let file = triangle(&folder);
    let capture = folder.join("frame.capture");
    let (capture, out) = (capture.to_str().unwrap(), folder.join("out"));
    let out = out.to_str().unwrap();
    for engine in [&[][..], &["--cpu"]] {
        let bake =
            [&["bake", &file, "--clip", "0", "--time", "0.5", "-o", out, "--capture", capture][..], engine];
        assert_eq!(sinew(&bake.concat()).code, 0);
        for other in [&[][..], &["--cpu"]] {
            let said = sinew(&[&["replay", capture, "--diff", "-q"][..], other].concat());
            assert_eq!(said.code, 0, "{}", said.error);
            assert!(said.stdout.starts_with("ok "), "{}", said.stdout);
        }
    }
    let picture = folder.join("out.png");
    let render = ["render", &file, "--time", "0.5", "-o", picture.to_str().unwrap(), "--capture", capture];
    assert_eq!(sinew(&render).code, 0);
    assert_eq!(sinew(&["replay", capture, "--cpu", "-q"]).code, 0);
    // Half a metre along x is in the palette's one row; elsewhere it is not.
    let mut bytes = fs::read(capture).unwrap();
    let row: Vec<u8> = [1.0f32, 0.0, 0.0, 0.5].iter().flat_map(|f| f.to_le_bytes()).collect();
    let at = bytes.windows(16).position(|window| window == row).unwrap();
    bytes[at + 12..at + 16].copy_from_slice(&0.25f32.to_le_bytes());
    fs::write(capture, &bytes).unwrap();
    let said = sinew(&["replay", capture, "--cpu", "-q"]);
    assert_eq!(said.code, 1);
    assert!(said.error.contains("damaged"), "{}", said.error);
    let end = bytes.len() - 8;
    let step = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
    let sum = bytes[..end].iter().fold(0xcbf2_9ce4_8422_2325, step);
    bytes[end..].copy_from_slice(&sum.to_le_bytes());
    fs::write(capture, &bytes).unwrap();
    let said = sinew(&["replay", capture, "--cpu", "-q", "--diff"]);
    assert_eq!(said.code, 1);
    assert!(
        said.stdout.starts_with("far instance 0") && said.stdout.contains("positions 2.500e-1"),
        "{}",
        said.stdout
    );
    assert!(said.error.ends_with("the CPU: 1 of 1 parts are not what was captured"), "{}", said.error);
}
