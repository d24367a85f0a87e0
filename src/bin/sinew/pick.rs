use std::path::PathBuf;

use glam::Vec3;
use serde_json::json;
use sinew::{
    CpuDeformer, Model, Precision,
    pick::{Hit, PickOptions, Picker, Ray, Sides},
};

use crate::{clip, engine::pose, failure::Failure, skinning, ui::Ui};

/// Say what a ray meets of a model in a pose: the nearest triangle, where on it, and the joint that moves it
///
/// Deforms on the CPU. Without --clip the rest pose is taken; time is clamped to the clip. Exit code 0 for a hit, 3
/// where nothing is hit.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A .gltf or .glb file
    file: PathBuf,
    /// Origin in metres and direction of any length, in world space
    #[arg(long, value_name = "OX,OY,OZ,DX,DY,DZ", value_parser = ray, allow_hyphen_values = true)]
    ray: Ray,
    /// Name or index of the clip
    #[arg(long, value_name = "NAME|INDEX")]
    clip: Option<String>,
    /// Seconds into the clip
    #[arg(long, value_name = "SECONDS", value_parser = clip::seconds, default_value = "0", requires = "clip")]
    time: f64,
    #[command(flatten)]
    skinning: skinning::Choice,
    /// Which sides of triangles are hit; `drawn` leaves out backs of single-sided materials
    #[arg(long, value_enum, default_value = "both")]
    sides: Side,
    /// The hit as data; null where there is none
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Side {
    Both,
    Front,
    Drawn,
}

/// The exit code where nothing is hit: neither an answer nor a failure.
const NO_HIT: u8 = 3;

fn ray(text: &str) -> Result<Ray, String> {
    let numbers: Result<Vec<f32>, _> = text.split(',').map(|number| number.trim().parse()).collect();
    match numbers.as_deref() {
        Ok(&[a, b, c, x, y, z]) => {
            Ray::new(Vec3::new(a, b, c), Vec3::new(x, y, z)).map_err(|error| error.to_string())
        }
        _ => Err("give six numbers: origin and direction, such as 0,1,5,0,0,-1".into()),
    }
}

pub(crate) fn run(args: &Args, ui: &Ui) -> Result<(), Failure> {
    let model = args.skinning.load(&args.file, ui)?;
    let clip = clip::or_rest(&model, args.clip.as_deref(), &args.file)?;
    let mut deformer = CpuDeformer::new();
    let id = deformer.add_model(&model, Precision::Exact)?;
    let instance = deformer.spawn(id)?;
    pose(deformer.animator_mut(), instance, clip, args.time)?;
    deformer.run()?;
    let mut picker = Picker::new(&model)?;
    picker.refit(&deformer, instance)?;
    let sides = match args.sides {
        Side::Both => Sides::Both,
        Side::Front => Sides::Front,
        Side::Drawn => Sides::AsDrawn,
    };
    let options = PickOptions { sides, ..PickOptions::default() };
    let hit = picker.nearest(deformer.animator(), args.ray, &options)?;
    match (hit, args.json) {
        (Some(hit), true) => ui.result(format!("{:#}", data(&model, &hit))),
        (Some(hit), false) => ui.result(text(&model, &hit)),
        (None, is_json) => {
            if is_json {
                ui.result("null")?;
            }
            Err(Failure::new("the ray hits nothing").with_code(NO_HIT))
        }
    }
}

fn text(model: &Model, hit: &Hit) -> String {
    // What f32 says of places and shares, and no more.
    let rounded = |v: Vec3| v.to_array().map(|c| (f64::from(c) * 1e6).round() / 1e6 + 0.0);
    let ([x, y, z], [nx, ny, nz]) = (rounded(hit.position), rounded(hit.normal));
    let ([a, b, c], [u, v, w]) = (hit.vertices, rounded(hit.barycentrics));
    let side = if hit.is_front { "front" } else { "back" };
    let joint = hit.joint.map_or("node".to_owned(), |joint| format!("joint {joint}, node"));
    format!(
        "hit after {} m, {side}\n  position {x} {y} {z}\n  normal {nx} {ny} {nz}\n  part {}, mesh {}, primitive {}, \
         triangle {}\n  vertices {a} {b} {c}, shares {u} {v} {w}\n  {joint} {} `{}`",
        hit.distance,
        hit.part,
        hit.mesh,
        hit.primitive,
        hit.triangle,
        hit.node,
        name(model, hit),
    )
}

fn data(model: &Model, hit: &Hit) -> serde_json::Value {
    json!({
        "distance": hit.distance,
        "position": hit.position.to_array(),
        "normal": hit.normal.to_array(),
        "front": hit.is_front,
        "part": hit.part,
        "mesh": hit.mesh,
        "primitive": hit.primitive,
        "triangle": hit.triangle,
        "vertices": hit.vertices,
        "barycentrics": hit.barycentrics.to_array(),
        "node": hit.node,
        "nodeName": name(model, hit),
        "joint": hit.joint,
    })
}

fn name<'m>(model: &'m Model, hit: &Hit) -> &'m str {
    &model.skeleton().names()[hit.node as usize]
}
