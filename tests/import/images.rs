//! Images that are not read, and textures that have others.

use serde_json::{Value, json};
use sinew::{Model, model::Diagnostic};

use crate::glb::Glb;

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n..";
const WEBP: &[u8] = b"RIFF\x24\0\0\0WEBPVP8 ";
const KTX2: &[u8] = b"\xABKTX 20\xBB\r\n\x1A\n";

/// The triangle with these images and textures.
fn with(images: &[&[u8]], textures: Value) -> Glb {
    let mut glb = Glb::triangle();
    let views: Vec<Value> = images.iter().map(|bytes| json!({ "bufferView": glb.view(bytes) })).collect();
    glb.json["images"] = views.into();
    glb.json["textures"] = textures;
    glb
}

fn unreadable(model: &Model) -> Vec<String> {
    let said = |d: &Diagnostic| format!("{}: {}", d.place, d.message);
    model.diagnostics().iter().filter(|d| d.code == "image-unreadable").map(said).collect()
}

#[test]
fn an_image_of_no_known_format_or_without_bytes_is_left_empty() {
    let glb = with(&[b"hello", PNG], json!([{ "source": 0 }, { "source": 1 }]));
    let model = glb.model();
    assert_eq!(unreadable(&model), ["images[0]: is neither PNG nor JPEG"]);
    assert_eq!((model.images()[0].bytes.len(), &model.images()[1].bytes[..]), (0, PNG));
}

#[test]
fn a_format_that_is_not_read_is_named_with_what_to_do() {
    for (bytes, name) in [
        (WEBP, "WebP"),
        (KTX2, "KTX2"),
        (b"\0\0\0\x1Cftypavif".as_slice(), "AVIF"),
        (b"DDS |\0\0\0".as_slice(), "DDS"),
    ] {
        let glb = with(&[bytes], json!([{ "source": 0 }]));
        let message = format!("images[0]: is {name}, which is not read: convert it to PNG or JPEG");
        assert_eq!(unreadable(&glb.model()), [message]);
    }
}

#[test]
fn a_texture_whose_image_comes_only_by_an_extension_names_it_once() {
    for (extension, bytes, name) in [
        ("EXT_texture_webp", WEBP, "WebP"),
        ("KHR_texture_basisu", KTX2, "KTX2"),
        ("MSFT_texture_dds", b"DDS |\0\0\0".as_slice(), "DDS"),
    ] {
        let glb = with(&[PNG, bytes], json!([{ "extensions": { (extension): { "source": 1 } } }]));
        let model = glb.model();
        let message = format!(
            "textures[0]: its image comes only by {extension}: images[1] is {name}, which is not read: convert it to \
             PNG or JPEG"
        );
        assert_eq!(unreadable(&model), [message]);
        assert_eq!(model.textures()[0].image, 1);
    }
}

#[test]
fn a_plain_image_beside_an_extension_is_used_silently() {
    let textures = json!([{ "source": 0, "extensions": { "EXT_texture_webp": { "source": 1 } } }]);
    let mut glb = with(&[PNG, WEBP], textures.clone());
    glb.json["extensionsUsed"] = json!(["EXT_texture_webp"]);
    assert!(glb.codes().is_empty());
    let model = glb.model();
    assert_eq!(model.textures()[0].image, 0);
    // A missing file that nobody needs is not missed either.
    let mut glb = with(&[PNG], textures);
    glb.json["images"].as_array_mut().unwrap().push(json!({ "uri": "gone.webp" }));
    assert!(unreadable(&glb.model()).is_empty());
}

#[test]
fn an_image_that_is_beside_for_one_texture_and_alone_for_another_is_reported() {
    let alone = json!({ "extensions": { "EXT_texture_webp": { "source": 1 } } });
    let beside = json!({ "source": 0, "extensions": { "EXT_texture_webp": { "source": 1 } } });
    for textures in [json!([alone, beside]), json!([beside, alone])] {
        assert_eq!(unreadable(&with(&[PNG, WEBP], textures).model()).len(), 1);
    }
}

#[test]
fn an_extension_that_names_a_png_is_taken_at_its_bytes() {
    let model = with(&[PNG], json!([{ "extensions": { "KHR_texture_basisu": { "source": 0 } } }])).model();
    assert!(unreadable(&model).is_empty());
    assert_eq!(model.textures()[0].image, 0);
}

#[test]
fn an_extension_that_names_no_image_leaves_the_texture_empty() {
    for source in [json!(9), json!(-1), json!("a"), json!(u64::MAX), Value::Null] {
        let model =
            with(&[PNG], json!([{ "extensions": { "EXT_texture_webp": { "source": source } } }])).model();
        assert_eq!(unreadable(&model), ["textures[0]: has no image"]);
        assert!(model.images()[model.textures()[0].image as usize].bytes.is_empty());
    }
}
