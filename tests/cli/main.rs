//! The program from outside: exit codes, and the first line of what it says.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]
#![cfg(feature = "cli")]

mod bake;
mod pick;
mod skinning;

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
        line("walk").contains("38 channels, 737 keys, linear, 16640 bytes; compressed 8778 bytes, off by")
    );
    assert!(
        line("wave").contains("cubic spline, 40888 bytes; compressed 1152 bytes and 35 tracks as they are")
    );
    let json = sinew(&["inspect", "--json", demo]).stdout;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let walk = &json["clips"][1];
    assert_eq!((walk["bytes"].as_u64(), walk["compressed"]["bytes"].as_u64()), (Some(16640), Some(8778)));
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
