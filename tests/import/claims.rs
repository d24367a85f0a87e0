//! Sizes that a file only claims: refused with both numbers, and never allocated.

use serde_json::{Value, json};
use sinew::{
    Model,
    import::{ImportError, ImportOptions},
};

use crate::glb::{FLOAT, Glb, UNSIGNED_BYTE};

const FOUR_GIB: u64 = 1 << 32;

/// Far more than the tests of this program hold at once, far less than what is claimed.
const MOST: u64 = 512 << 20;

/// Loads, and looks at what the process has ever held.
fn refuse(bytes: &[u8]) -> ImportError {
    let error = Model::from_bytes(bytes, &ImportOptions::default()).unwrap_err();
    assert!(crate::peak_memory().is_none_or(|peak| peak < MOST), "{error} came after a large allocation");
    error
}

/// The triangle with one value changed.
fn changed(pointer: &str, value: impl Into<Value>) -> Vec<u8> {
    let mut glb = Glb::triangle();
    glb.json["buffers"] = json!([{ "byteLength": glb.bin.len() }]);
    *glb.json.pointer_mut(pointer).unwrap() = value.into();
    glb.to_bytes()
}

#[test]
fn an_accessor_that_claims_4_gib_needs_them_in_its_view() {
    let error = refuse(&changed("/accessors/0/count", u32::MAX));
    assert_eq!(
        error.to_string(),
        "accessors[0].bufferView needs 51539607540 bytes of bufferViews[0], which has 36"
    );
    let error = refuse(&changed("/accessors/0/count", FOUR_GIB));
    assert_eq!(error.to_string(), "accessors[0].count: 4294967296 elements, but the limit is 4294967295");
}

#[test]
fn an_accessor_of_zeros_cannot_ask_for_4_gib() {
    let mut glb = Glb::triangle();
    let huge = glb.accessor(json!({ "componentType": FLOAT, "count": u32::MAX, "type": "VEC3" }));
    glb.set_attribute("POSITION", huge);
    assert!(matches!(refuse(&glb.to_bytes()), ImportError::Limit { found: 51_539_607_540.., .. }));
}

#[test]
fn a_view_and_a_buffer_that_claim_4_gib_are_refused() {
    let error = refuse(&changed("/bufferViews/0/byteLength", FOUR_GIB));
    assert_eq!(error.to_string(), "bufferViews[0] needs 4294967296 bytes of buffers[0], which has 172");
    let error = refuse(&changed("/buffers/0/byteLength", FOUR_GIB));
    assert_eq!(error.to_string(), "buffers[0] needs 4294967296 bytes of the binary chunk, which has 172");
}

#[test]
fn sparse_counts_of_4_gib_are_refused() {
    let sparse = |elements: u64, count: u64| {
        let mut glb = Glb::triangle();
        let (at, of) = (glb.view(&[0, 1]), glb.view(&[0; 24]));
        let accessor = glb.accessor(json!({ "componentType": FLOAT, "count": elements, "type": "VEC3",
            "sparse": { "count": count, "indices": { "bufferView": at, "componentType": UNSIGNED_BYTE },
                "values": { "bufferView": of } } }));
        glb.set_attribute("NORMAL", accessor);
        refuse(&glb.to_bytes()).to_string()
    };
    assert_eq!(sparse(3, FOUR_GIB), "accessors[6].sparse.count: is 4294967296; it must be 1 to 3");
    assert!(sparse(FOUR_GIB - 1, FOUR_GIB - 1).ends_with("decoded bytes, but the limit is 536870912"));
    assert!(sparse(3, 3).starts_with("accessors[6].sparse.indices needs 3 bytes of bufferViews[6]"));
}

#[test]
fn glb_lengths_of_4_gib_are_refused() {
    for (at, part) in [(8, "the GLB header gives"), (12, "a GLB chunk of"), (20, "a GLB chunk of")] {
        let mut bytes = Glb::triangle().to_bytes();
        let json = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
        let at = if at == 20 { 20 + json } else { at };
        bytes[at..at + 4].copy_from_slice(&u32::MAX.to_le_bytes());
        let error = refuse(&bytes).to_string();
        assert!(error.starts_with(&format!("not a glTF file: {part} 4294967295 bytes")), "{error}");
    }
}

#[cfg(feature = "meshopt")]
#[test]
fn a_compressed_view_cannot_ask_for_4_gib() {
    let mut glb = Glb::triangle();
    glb.json["bufferViews"][0]["byteLength"] = FOUR_GIB.into();
    glb.json["bufferViews"][0]["extensions"] = json!({ "EXT_meshopt_compression": { "buffer": 0,
        "byteLength": 36, "byteStride": 4, "count": FOUR_GIB / 4, "mode": "ATTRIBUTES" } });
    let error = refuse(&glb.to_bytes()).to_string();
    assert_eq!(error, "bufferViews[0]: 4294967296 decoded bytes, but the limit is 536870912");
}

#[test]
fn a_file_of_4_gib_is_not_read() {
    let folder = std::env::temp_dir().join(format!("sinew-claims-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    // A hole: it takes no room on the disk.
    std::fs::File::create(folder.join("huge.bin")).unwrap().set_len(FOUR_GIB).unwrap();
    let mut glb = Glb::triangle();
    glb.json["buffers"] = json!([{ "byteLength": FOUR_GIB, "uri": "huge.bin" }]);
    std::fs::write(folder.join("model.glb"), glb.to_bytes()).unwrap();
    for name in ["huge.bin", "model.glb"] {
        let error = Model::load(folder.join(name)).unwrap_err().to_string();
        assert!(error.contains("4294967296 bytes, but the limit leaves"), "{error}");
        assert!(crate::peak_memory().is_none_or(|peak| peak < MOST));
    }
    std::fs::remove_dir_all(folder).unwrap();
}
