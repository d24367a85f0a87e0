//! Any bytes as a file. Start it with `tests/data/assets`.
#![no_main]

#[path = "../load.rs"]
mod load;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| load::load(bytes));
