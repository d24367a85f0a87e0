//! A GLB of 20 MiB loaded by `sinew` and by the crate `gltf`: time, and bytes allocated at most.
//!
//! `cargo run --release --bin load --features load` in this folder. What is compared:
//!
//! - *gltf, buffers*: `gltf::import`. It parses, validates indices, and copies the binary chunk. No accessor is read.
//! - *gltf, everything*: the same, then every accessor of every primitive, skin and clip through its readers into
//!   vectors, as a program must do before it can draw. Still unchecked: `NaN`, joints, key times, weights.
//! - *sinew*: `Model::load`, which reads and checks everything, normalises weights and orders vertices for deformation.

mod file;
mod live;
mod theirs;

use std::{fs, hint::black_box, path::Path, time::Instant};

use sinew::Model;

const ROUNDS: usize = 25;

type Load = fn(&Path) -> Box<dyn std::any::Any>;

fn main() {
    let folder = std::env::temp_dir().join(format!("sinew-load-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join("large.glb");
    let bytes = file::generate();
    fs::write(&path, &bytes).unwrap();
    println!("{:.1} MiB, best and median of {ROUNDS} rounds in turn", bytes.len() as f64 / 1048576.0);
    drop(bytes);

    let loaders: [(&str, Load); 3] = [
        ("sinew", |path| Box::new(Model::load(path).unwrap())),
        ("gltf, buffers", |path| Box::new(gltf::import(path).unwrap())),
        ("gltf, everything", |path| Box::new(theirs::load(path))),
    ];
    let mut times = [const { Vec::new() }; 3];
    for _ in 0..ROUNDS {
        for ((_, load), times) in loaders.iter().zip(&mut times) {
            let start = Instant::now();
            let loaded = load(&path);
            times.push(start.elapsed().as_secs_f64() * 1e3);
            drop(black_box(loaded));
        }
    }
    times.iter_mut().for_each(|times| times.sort_by(f64::total_cmp));
    let peaks = loaders.map(|(_, load)| live::peak_of(|| load(&path)).1 as f64 / 1048576.0);
    let ours = (times[0][ROUNDS / 2], peaks[0]);
    println!(
        "{:18} {:>8} {:>8} {:>10} {:>14} {:>14}",
        "", "best ms", "ms", "peak MiB", "sinew's time", "sinew's peak"
    );
    for (((name, _), times), peak) in loaders.iter().zip(&times).zip(peaks) {
        let median = times[ROUNDS / 2];
        println!(
            "{name:18} {:8.1} {median:8.1} {peak:10.1} {:13.2}x {:13.2}x",
            times[0],
            ours.0 / median,
            ours.1 / peak
        );
    }
    fs::remove_dir_all(folder).unwrap();
}
