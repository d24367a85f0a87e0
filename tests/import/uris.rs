use std::{fs, io, path::PathBuf};

use serde_json::{Value, json};
use sinew::{
    Model,
    import::{ImportError, ImportOptions},
};

use crate::glb::Glb;

/// The triangle as JSON, its buffer at `uri`.
fn external(uri: &str) -> Vec<u8> {
    let glb = Glb::triangle();
    let mut json: Value = glb.json;
    json["buffers"] = json!([{ "byteLength": glb.bin.len(), "uri": uri }]);
    json.to_string().into_bytes()
}

fn give(_: &str) -> io::Result<Vec<u8>> {
    Ok(Glb::triangle().bin)
}

/// A resolver that would give anything: refusals come before it is asked.
fn load(uri: &str) -> Result<Model, ImportError> {
    let options = ImportOptions { resolver: Some(&give), ..Default::default() };
    Model::from_bytes(&external(uri), &options)
}

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("sinew-import-{}-{name}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.join("model/below")).unwrap();
    fs::write(folder.join("secret.bin"), Glb::triangle().bin).unwrap();
    fs::write(folder.join("model/below/a b.bin"), Glb::triangle().bin).unwrap();
    folder
}

fn load_file(folder: &std::path::Path, uri: &str) -> Result<Model, ImportError> {
    let path = folder.join("model/triangle.gltf");
    fs::write(&path, external(uri)).unwrap();
    Model::load(path)
}

#[test]
fn what_leaves_the_folder_is_refused() {
    let odd = [
        "../secret.bin",
        "below/../../secret.bin",
        "%2e%2e/secret.bin",
        "%2E./secret.bin",
        ".%2e%2fsecret.bin",
        "below/..",
        "..%2Fsecret.bin",
        "..%5Csecret.bin",
        "..\\secret.bin",
        "/etc/hostname",
        "//host/share.bin",
        "%2Fetc%2Fhostname",
        "\\\\host\\share.bin",
        "file:///etc/hostname",
        "file:secret.bin",
        "FILE:secret.bin",
        "http://localhost/x.bin",
        "C:/secret.bin",
        "C%3A/secret.bin",
        "a%00.bin",
        "a.bin?x",
        "a.bin#x",
        "%FF.bin",
        "",
        ".",
        "below/",
    ];
    let folder = folder("odd");
    for uri in odd {
        for error in [load(uri).unwrap_err(), load_file(&folder, uri).unwrap_err()] {
            assert!(
                matches!(&error, ImportError::Uri { place, .. } if place == "buffers[0].uri"),
                "{uri}: {error}"
            );
        }
    }
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_refused_uri_says_where_and_why() {
    let error = load("../secret.bin").unwrap_err();
    assert_eq!(error.to_string(), "buffers[0].uri: \"../secret.bin\" leaves the model's folder");
    assert!(error.help().contains("model's own folder"));
}

#[test]
fn a_scheme_is_named_as_the_reason() {
    for uri in ["file:///etc/hostname", "http://localhost/x.bin", "C:/secret.bin"] {
        let error = load(uri).unwrap_err().to_string();
        assert!(error.ends_with("has a scheme; only data: and relative paths are read"), "{error}");
    }
}

#[test]
fn without_a_resolver_external_files_are_errors() {
    let error = Model::from_bytes(&external("a.bin"), &ImportOptions::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "buffers[0].uri: \"a.bin\" is outside the given bytes and `ImportOptions::resolver` is not set"
    );
}

#[test]
fn the_resolver_gets_the_decoded_name() {
    let names = std::cell::RefCell::new(Vec::new());
    let resolve = |name: &str| {
        names.borrow_mut().push(name.to_owned());
        give(name)
    };
    let options = ImportOptions { resolver: Some(&resolve), ..Default::default() };
    Model::from_bytes(&external("./below/a%20b.bin"), &options).unwrap();
    assert_eq!(names.into_inner(), ["below/a b.bin"]);
}

#[test]
fn a_file_below_the_folder_is_read() {
    let folder = folder("below");
    load_file(&folder, "below/a%20b.bin").unwrap();
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_folder_is_no_file() {
    let folder = folder("folder");
    let error = load_file(&folder, "below").unwrap_err();
    assert_eq!(error.to_string(), "buffers[0].uri: \"below\" cannot be read: not a regular file");
    fs::remove_dir_all(folder).unwrap();
}

#[cfg(unix)]
#[test]
fn a_link_out_of_the_folder_is_refused() {
    let folder = folder("link");
    std::os::unix::fs::symlink(folder.join("secret.bin"), folder.join("model/link.bin")).unwrap();
    std::os::unix::fs::symlink("below/a b.bin", folder.join("model/inside.bin")).unwrap();
    let error = load_file(&folder, "link.bin").unwrap_err().to_string();
    assert!(error.ends_with("it is a link out of the model's folder"), "{error}");
    load_file(&folder, "inside.bin").unwrap();
    fs::remove_dir_all(folder).unwrap();
}

#[cfg(unix)]
#[test]
fn a_folder_that_is_a_link_out_of_the_folder_is_refused() {
    let folder = folder("linked folder");
    std::os::unix::fs::symlink("..", folder.join("model/up")).unwrap();
    std::os::unix::fs::symlink("below", folder.join("model/down")).unwrap();
    let error = load_file(&folder, "up/secret.bin").unwrap_err().to_string();
    assert!(error.ends_with("it is a link out of the model's folder"), "{error}");
    load_file(&folder, "up/model/below/a%20b.bin").unwrap();
    load_file(&folder, "down/a%20b.bin").unwrap();
    fs::remove_dir_all(folder).unwrap();
}

/// `%252e` is a file name with a percent sign, not a dot.
#[test]
fn names_are_decoded_once() {
    let folder = folder("twice");
    for uri in ["%252e%252e/secret.bin", "..%252fsecret.bin", "%252e%252e%255csecret.bin"] {
        let error = load_file(&folder, uri).unwrap_err().to_string();
        assert!(error.contains("cannot be read"), "{error}");
    }
    fs::create_dir(folder.join("model/%2e%2e")).unwrap();
    fs::write(folder.join("model/%2e%2e/a.bin"), Glb::triangle().bin).unwrap();
    load_file(&folder, "%252e%252e/a.bin").unwrap();
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn images_are_bound_to_the_folder_like_buffers() {
    let folder = folder("picture");
    fs::write(folder.join("secret.png"), b"\x89PNG\r\n\x1a\n").unwrap();
    let mut glb = Glb::triangle();
    glb.json["images"] = json!([{ "uri": "../secret.png" }, { "uri": "%2e%2e/secret.png" }]);
    fs::write(folder.join("model/picture.glb"), glb.to_bytes()).unwrap();
    let model = Model::load(folder.join("model/picture.glb")).unwrap();
    assert!(model.images().iter().all(|image| image.bytes.is_empty()));
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_missing_model_is_named() {
    let error = Model::load("no/such.glb").unwrap_err().to_string();
    assert!(error.starts_with("cannot read no/such.glb: "), "{error}");
}

#[test]
fn data_uris_are_base64_only() {
    for uri in ["data:,abc", "data:application/octet-stream;base64", "data:;base64,@@@@"] {
        assert!(matches!(load(uri), Err(ImportError::Uri { .. })), "{uri}");
    }
}

#[test]
fn a_missing_image_leaves_the_model_usable() {
    let mut glb = Glb::triangle();
    glb.json["images"] = json!([{ "uri": "no.png" }, { "uri": "../no.png" }]);
    glb.json["textures"] = json!([{ "source": 0 }]);
    assert_eq!(glb.codes(), ["image-unreadable", "image-unreadable"]);
    assert!(glb.model().images()[0].bytes.is_empty());
}
