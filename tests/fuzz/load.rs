//! Loads a file and uses what comes out.

#[path = "../import/fuzz/usage.rs"]
mod usage;

use std::io;

use sinew::{
    Model,
    import::{ImportOptions, Limits},
};

pub(crate) fn load(bytes: &[u8]) {
    let resolver = |name: &str| {
        let inside = |part: &str| !part.is_empty() && part != "." && part != "..";
        assert!(!name.contains(['\\', ':', '\0']) && name.split('/').all(inside), "{name:?}");
        io::Result::Ok(vec![0; 256])
    };
    let mut limits = Limits::default();
    limits.decoded_bytes = 8 << 20;
    let options = ImportOptions { resolver: Some(&resolver), limits, ..Default::default() };
    if let Ok(model) = Model::from_bytes(bytes, &options) {
        let number = u64::from(bytes.last().copied().unwrap_or(0));
        usage::try_use(&model, number).unwrap();
    }
}
