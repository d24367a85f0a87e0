//! A crowd evaluated on the CPU by `sinew` and by `bevy_animation`: the same skeleton of 67 joints, the same
//! keys, one thread. A frame moves every character on, samples its clip, brings the joints into model space
//! and writes the palette.
//!
//! `cargo run --release --bin evaluate --features evaluate` in this folder. The last two columns are multiples
//! of `sinew`'s times. bevy's glTF loader makes a track of one key a curve like any other, sampled every frame;
//! *no constant tracks* is bevy with those keys put into the rest pose beforehand, as the
//! compressed clips of `sinew` do by themselves.
//!
//! - [`pab`]: the skeleton and its clips.
//! - [`ours`]: the crowd in `sinew`.
//! - [`bevy`]: the crowd in `bevy_animation`.

mod bevy;
mod ours;
#[path = "../../../evaluate/pab.rs"]
mod pab;

use std::time::Instant;

use sinew::animate::{CompressOptions, CompressedClips};

const CHARACTERS: usize = 1000;
const CLIP: &str = "walk_opt";
const STEP: f64 = 1.0 / 60.0;
const ROUNDS: usize = 15;
/// Frames a round.
const OUR_FRAMES: usize = 50;
const BEVY_FRAMES: usize = 10;
/// Frames before the crowds are compared: every character has started over at least once.
const FRAMES_BEFORE: usize = 100;
/// In metres.
const MAX_DIFFERENCE: f32 = 1e-3;

fn main() {
    let Some(model) = pab::load("_opt") else {
        println!("the bench data is not here");
        return;
    };
    let joints = model.skeleton().len();
    let clip = &model.clips()[model.find_clip(CLIP).unwrap() as usize];
    // Spread over the clip, neighbours far apart.
    let times: Vec<_> =
        (0..CHARACTERS).map(|i| i as f64 * 0.618_034 % 1.0 * f64::from(clip.duration())).collect();

    let compressed = CompressedClips::new(&model, &CompressOptions::default().with_tolerance(1e-3));
    let mut ours = [Some(compressed), None].map(|compressed| ours::Crowd::new(&model, compressed, &times));
    let mut theirs = [true, false].map(|constant| bevy::Crowd::new(&model, clip, constant, &times));
    for _ in 0..FRAMES_BEFORE {
        ours.iter_mut().for_each(ours::Crowd::frame);
        theirs.iter_mut().for_each(bevy::Crowd::frame);
    }
    let reference: Vec<_> = (0..CHARACTERS).map(|i| ours[1].positions(i)).collect();
    println!("joints are at most this far from those of sinew's exact clips:");
    compare("sinew, compressed clips", &reference, |character| ours[0].positions(character));
    compare("bevy", &reference, |character| theirs[0].positions(character));
    compare("bevy, no constant tracks", &reference, |character| theirs[1].positions(character));

    let mut names = vec!["sinew, compressed clips", "sinew, exact clips"];
    names.extend(["bevy", "bevy, with palettes"]);
    names.extend(["bevy, no constant tracks", "bevy, no constant tracks, with palettes"]);
    let mut ns = vec![Vec::new(); names.len()];
    for _ in 0..ROUNDS {
        for (crowd, ns) in ours.iter_mut().zip(&mut ns[..2]) {
            let start = Instant::now();
            (0..OUR_FRAMES).for_each(|_| crowd.frame());
            ns.push(start.elapsed().as_secs_f64() * 1e9 / (OUR_FRAMES * CHARACTERS * joints) as f64);
        }
        for (crowd, ns) in theirs.iter_mut().zip(ns[2..].chunks_mut(2)) {
            let mut seconds = [0.0; 2];
            for _ in 0..BEVY_FRAMES {
                let start = Instant::now();
                crowd.frame();
                seconds[0] += start.elapsed().as_secs_f64();
                crowd.write_palettes();
                seconds[1] += start.elapsed().as_secs_f64();
            }
            for (ns, seconds) in ns.iter_mut().zip(seconds) {
                ns.push(seconds * 1e9 / (BEVY_FRAMES * CHARACTERS * joints) as f64);
            }
        }
    }
    println!("\n{CHARACTERS} characters of {joints} joints playing {CLIP}, medians of {ROUNDS} rounds");
    println!("{:41} ns/joint  / compressed  / exact", "");
    for (name, of) in names.iter().zip(&ns) {
        // Of the same round, since the machine may be faster in another one.
        let over = |other: &[f64]| median(of.iter().zip(other).map(|(a, b)| a / b));
        println!("{name:41} {:8.2}  {:12.1}  {:7.1}", median(of.iter().copied()), over(&ns[0]), over(&ns[1]));
    }
}

/// Prints the largest distance to `reference`; panics at one that is not small.
fn compare(name: &str, reference: &[Vec<glam::Vec3>], positions: impl Fn(usize) -> Vec<glam::Vec3>) {
    let mut largest = 0.0f32;
    for (character, expected) in reference.iter().enumerate() {
        let found = positions(character);
        assert_eq!(found.len(), expected.len(), "{name}");
        for (joint, (expected, found)) in expected.iter().zip(found).enumerate() {
            let distance = expected.distance(found);
            assert!(
                distance <= MAX_DIFFERENCE,
                "{name}: joint {joint} of character {character}: {distance} m"
            );
            largest = largest.max(distance);
        }
    }
    println!("{name:41} {:.4} mm", largest * 1e3);
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<_> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
