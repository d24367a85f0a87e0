//! `sinew retarget` from outside: what it writes, says and refuses.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use glam::Vec3;
use serde_json::Value;
use sinew::{Animator, Model, animate::sample, import::ImportOptions};

use crate::bodies::{assert_turn, assert_vector, body, model, raise, turn_z};

/// Exit code, stdout, stderr.
fn sinew(arguments: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_sinew")).arg("retarget").args(arguments).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// A folder of this test's own with `source.glb`, of height 1 and with a clip, and `target.glb`, of height 2.
fn folder(name: &str) -> (PathBuf, [String; 3]) {
    let folder = std::env::temp_dir().join(format!("sinew-retarget-{}-{name}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let source = model(body(1.0)).with_clips([raise(1.0)]).unwrap();
    fs::write(folder.join("source.glb"), source.to_glb().unwrap()).unwrap();
    fs::write(folder.join("target.glb"), model(body(2.0)).to_glb().unwrap()).unwrap();
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let paths = [path("source.glb"), path("target.glb"), path("out.glb")];
    (folder, paths)
}

fn strictly(path: impl AsRef<Path>) -> Model {
    Model::load_with(path, &ImportOptions { strict: true, ..Default::default() }).unwrap()
}

/// A map file beside the models.
fn map(folder: &Path, text: &str) -> String {
    let path = folder.join("map.json");
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn the_written_file_loads_strictly_and_plays() {
    let (_, [source, target, out]) = folder("plays");
    let (code, said, error) = sinew(&[&source, &target, "-o", &out, "--fps", "11"]);
    assert_eq!((code, error.as_str()), (0, ""));
    assert!(
        said.contains("3 joints mapped: hip, arm, hand\n  hip: hip\n  clip `raise`: 4 tracks of 11 keys"),
        "{said}"
    );

    let model = strictly(&out);
    let pose = sample(&model, &model.clips()[0], 0.5);
    assert_vector(pose.translations[0], Vec3::new(0.0, 2.5, 0.0));
    assert_turn(pose.rotations[1], turn_z(45.0));
    let mut animator = Animator::new();
    let id = animator.add_model(&model);
    let instance = animator.spawn(id).unwrap();
    animator.play(instance, "raise").unwrap();
    animator.advance(0.5);
    animator.evaluate();
    assert_vector(animator.local(instance, 0).unwrap().translation, Vec3::new(0.0, 2.5, 0.0));
}

#[test]
fn a_map_says_which_joints_and_the_report_what_did_not_fit() {
    let (folder, [source, target, out]) = folder("map");
    let map = map(&folder, r#"{"hip": "hip", "arm": "wing", "tail": "hand"}"#);
    let (code, said, _) = sinew(&[&source, &target, "-o", &out, "--map", &map, "--json"]);
    assert_eq!(code, 0);
    let said: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(said["mapped"], serde_json::json!([{ "target": "hip", "source": "hip" }]));
    assert_eq!(said["unmapped"], serde_json::json!(["arm", "hand"]));
    assert_eq!(said["unknownSources"], serde_json::json!([{ "target": "arm", "source": "wing" }]));
    assert_eq!(said["unknownTargets"], serde_json::json!(["tail"]));
    assert_eq!((&said["hip"], &said["clips"][0]["name"]), (&"hip".into(), &"raise".into()));
}

#[test]
fn options_of_world_copy_stand_in_the_map() {
    let (folder, [source, target, out]) = folder("options");
    let map = map(
        &folder,
        r#"{"names": null, "hip": "hip", "hip_position": [0, 1, 0], "hip_influence": [1, 0, 1]}"#,
    );
    let scaled = ["--mode", "world-copy", "--scale", "3"];
    let (code, _, error) =
        sinew(&[&[source.as_str(), &target, "-o", &out, "--map", &map], &scaled[..]].concat());
    assert_eq!((code, error.as_str()), (0, ""));
    let model = strictly(&out);
    assert_vector(sample(&model, &model.clips()[0], 1.0).translations[0], Vec3::new(0.0, 3.0, 0.0));
}

#[test]
fn clips_are_chosen_and_come_after_the_targets_own() {
    let (folder, [source, target, out]) = folder("clips");
    let moving = folder.join("moving.glb");
    fs::write(&moving, model(body(2.0)).with_clips([raise(2.0)]).unwrap().to_glb().unwrap()).unwrap();
    let moving = moving.to_str().unwrap();
    let (code, _, _) =
        sinew(&[&source, moving, "-o", &out, "--clip", "raise", "--clip", "0", "--hip", "none"]);
    assert_eq!(code, 0);
    let counts: Vec<_> = strictly(&out).clips().iter().map(|clip| clip.tracks().len()).collect();
    // Without a hip, rotations alone.
    assert_eq!(counts, [2, 3, 3]);
    let (code, _, error) = sinew(&[&target, &source, "-o", &out]);
    assert_eq!((code, error.lines().next()), (1, Some(&*format!("error: `{target}` has no clips"))));
}

#[test]
fn what_cannot_be_done_is_said_with_the_way_out() {
    let (folder, [source, target, out]) = folder("refused");
    let broken = map(&folder, "{\"arm\": 3}");
    let base = [source.as_str(), &target, "-o", &out];
    let both = format!("{source} to {target}: ");
    for (more, code, line, help) in [
        (
            &["--hip", "pelvis"][..],
            1,
            format!(
                "{both}no joint is mapped to the hip `pelvis`; name the source joint that carries the body, or none"
            ),
            "give --hip NAME, one of the source joints of the map, or --hip none",
        ),
        (
            &["--fps", "-1"],
            1,
            format!("{both}-1 keys a second; the rate must be above 0"),
            "give --fps keys a second, such as 30",
        ),
        (
            &["--map", &broken],
            1,
            format!("`{broken}` is no map of joints: `arm` must be followed by the name of a source joint"),
            r#"write {"target joint": "source joint"}, or {"names": {...}, "hip": "Hips"}; `sinew retarget --help` lists all keys"#,
        ),
    ] {
        let (found, _, error) = sinew(&[&base, more].concat());
        assert_eq!((found, error), (code, format!("error: {line}\nhelp: {help}\n")));
    }
    assert_eq!(sinew(&[&source, &target, "-o", &source]).0, 2);
    assert_eq!(sinew(&[&source, &target, "-o", "out.gltf"]).0, 2);
    assert_eq!(sinew(&[&source, &target, "-o", &out, "--mode", "copy"]).0, 2);
    assert!(!folder.join("out.glb").exists());
}
