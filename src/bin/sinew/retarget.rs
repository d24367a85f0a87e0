//! `sinew retarget`: the clips of one file on the body of another.

use std::path::{Path, PathBuf};

use serde_json::json;
use sinew::{
    Model,
    animate::{Pose, sample},
    model::Clip,
    retarget::{
        BakeOptions, Hip, Keep, Mode, RestAngle, RestRelative, Retarget, RetargetOptions, WorldCopy,
        names_alike,
    },
};

use crate::{
    clip,
    failure::Failure,
    fix::lost,
    glb,
    load::load,
    retarget_map::{Moment, RetargetMap},
    ui::Ui,
};

/// Write TARGET with clips of SOURCE that move its joints
///
/// Without a map, joints of equal names are paired: case does not count, nor do `.`, `-` and blanks for `_`, nor
/// prefixes such as `mixamorig:`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = MAP)]
pub(crate) struct Args {
    /// The .gltf or .glb file whose clips are taken
    source: PathBuf,
    /// The .gltf or .glb file that gets them, after its own
    target: PathBuf,
    /// The .glb file to write
    #[arg(long, short, value_name = "FILE.glb")]
    output: PathBuf,
    /// A JSON file of names, {"target joint": "source joint"}, or of names and options; --help lists them
    #[arg(long, value_name = "FILE.json")]
    map: Option<PathBuf>,
    /// Name or index of a clip; may be given several times [default: all]
    #[arg(long = "clip", value_name = "NAME|INDEX")]
    clips: Vec<String>,
    /// Turns relative to the rest poses, or the source's world rotations as they are
    #[arg(long, value_enum, default_value_t = ModeName::RestRelative)]
    mode: ModeName,
    /// The source joint whose movement counts; `none` for rotations alone [default: hip, hips or pelvis, else the
    /// joint that all others hang on]
    #[arg(long, value_name = "NAME")]
    hip: Option<String>,
    /// From the hip's movement in the source to that in the target [default: 1]; in rest-relative on top of the ratio
    /// of hip heights
    #[arg(long, value_name = "FACTOR", allow_negative_numbers = true)]
    scale: Option<f32>,
    /// Keys a second, rounded to whole steps from the clip's start to its end [default: as many as the source track with
    /// the most keys has]
    #[arg(long, allow_negative_numbers = true)]
    fps: Option<f32>,
    /// Write translation and scale of all mapped joints, not only the hip's translation
    #[arg(long)]
    keep_all: bool,
    /// Take clips that scale joints too, without their scale
    #[arg(long)]
    drop_scale: bool,
    /// The report as data
    #[arg(long)]
    json: bool,
}

const MAP: &str = r#"The map, where it is more than a table of names, is an object with these keys; all but `names` may be left out:
  names                    {"target joint": "source joint"}, or null for equal names
  hip                      source joint whose movement counts, or null
  hip_influence            [x, y, z], how much of its movement is taken over
  hip_position             [x, y, z], added before the scale, in metres of the source
  scale                    as --scale
  local_offsets            {"target joint": [x, y, z, w]}, a rotation after the source's
of rest-relative:
  source_rest, target_rest {"clip": NAME or INDEX, "time": SECONDS}, poses in which both stand alike
  align                    "far" (the default): target joints that point more than 20 degrees off in those poses are
                           turned to where the source's point; "off"; or ["target joint", ...]
  hip_ratio                in the place of the ratio of hip heights
  turn                     [x, y, z, w], for bodies that face different ways
of world-copy:
  preserve_bone_matrix     true: measure with the mesh node at the identity
  preserve_bone_positions  true: all but the hip return to their bind translations
  use_target_matrix        false; true: source world matrices as they are"#;

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum ModeName {
    RestRelative,
    WorldCopy,
}

pub(crate) fn run(args: &Args, ui: &Ui) -> Result<(), Failure> {
    glb::check(&args.output, &[&args.source, &args.target])?;
    let map = args.map.as_deref().map(RetargetMap::read).transpose()?.unwrap_or_default();
    let (source, target) = (load(&args.source, ui)?, load(&args.target, ui)?);
    let clips = chosen(&source, args)?;
    let options = options(args, map, &source, &target)?;
    let mut retarget = Retarget::new(&source, &target, &options).map_err(|error| explain(args, &error))?;
    let bake = BakeOptions {
        fps: args.fps,
        keep: if args.keep_all { Keep::All } else { Keep::Hip },
        drop_scale: args.drop_scale,
    };
    let bar = ui.bar(clips.len(), "retargeting");
    let mut baked = Vec::with_capacity(clips.len());
    for clip in clips {
        baked.push(retarget.clip(clip, &bake).map_err(|error| explain(args, &error))?);
        bar.inc(1);
    }
    bar.finish_and_clear();
    let with = target.with_clips(baked.iter().cloned()).map_err(Failure::new)?;
    let bytes = glb::write(&args.output, &with)?;
    let facts = Facts {
        retarget: &retarget,
        source: &source,
        target: &target,
        clips: &baked,
        hip: hip(&retarget, &source),
    };
    let lost = lost(&args.target, &target);
    ui.result(if args.json { facts.data(args, bytes, &lost) } else { facts.text(args, bytes, &lost) })
}

/// The clips asked for, or all.
fn chosen(source: &Model, args: &Args) -> Result<Vec<u32>, Failure> {
    if source.clips().is_empty() {
        return Err(Failure::new(format_args!("`{}` has no clips", args.source.display()))
            .help("give the file with the animation first, the one with the body second"));
    }
    if args.clips.is_empty() {
        return Ok((0..source.clips().len() as u32).collect());
    }
    let chosen = args.clips.iter().map(|wanted| clip::choose(source, Some(wanted), &args.source));
    Ok(chosen.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
}

fn options(
    args: &Args,
    map: RetargetMap,
    source: &Model,
    target: &Model,
) -> Result<RetargetOptions, Failure> {
    let defaults = RetargetOptions::default();
    let names = map.names.unwrap_or_else(|| names_alike(source, target));
    if names.is_empty() {
        let problem =
            if args.map.is_some() { "the map pairs no joints" } else { "no joints have equal names" };
        return Err(Failure::new(problem).help(
            r#"give --map a file of {"target joint": "source joint"}; `sinew inspect --json` lists the joints of a file"#,
        ));
    }
    let hip = match (args.hip.as_deref(), map.hip) {
        (Some("none"), _) => Hip::None,
        (Some(hip), _) => Hip::Named(hip.to_owned()),
        (None, Some(hip)) => hip,
        (None, None) => Hip::Auto,
    };
    let world = WorldCopy::default();
    let mode = match args.mode {
        ModeName::RestRelative => Mode::RestRelative(RestRelative {
            source_rest: rest(map.source_rest, source, &args.source)?,
            target_rest: rest(map.target_rest, target, &args.target)?,
            align: map.align.unwrap_or_default(),
            hip_ratio: map.hip_ratio,
            turn: map.turn.unwrap_or_default(),
        }),
        ModeName::WorldCopy => Mode::WorldCopy(WorldCopy {
            preserve_bone_matrix: map.preserve_bone_matrix.unwrap_or(world.preserve_bone_matrix),
            preserve_bone_positions: map.preserve_bone_positions.unwrap_or(world.preserve_bone_positions),
            use_target_matrix: map.use_target_matrix.unwrap_or(world.use_target_matrix),
        }),
    };
    Ok(RetargetOptions {
        mode,
        names,
        hip,
        hip_influence: map.hip_influence.unwrap_or(defaults.hip_influence),
        hip_position: map.hip_position.unwrap_or(defaults.hip_position),
        scale: args.scale.or(map.scale).unwrap_or(defaults.scale),
        local_offsets: map.local_offsets,
        ..defaults
    })
}

fn rest(moment: Option<Moment>, model: &Model, path: &Path) -> Result<Option<Pose>, Failure> {
    let Some(moment) = moment else { return Ok(None) };
    let clip = clip::choose(model, Some(&moment.clip), path)?;
    Ok(clip.and_then(|clip| model.clips().get(clip as usize)).map(|clip| sample(model, clip, moment.time)))
}

/// An error in the words of the program.
fn explain(args: &Args, error: &sinew::retarget::RetargetError) -> Failure {
    use sinew::retarget::RetargetError as E;
    let failure =
        Failure::new(format_args!("{} to {}: {error}", args.source.display(), args.target.display()));
    match error {
        E::UnknownHip { .. } => {
            failure.help("give --hip NAME, one of the source joints of the map, or --hip none")
        }
        E::HipHeight { .. } => {
            failure.help("give --hip the joint between the legs, or `hip_ratio` in the map")
        }
        E::ScaleTrack { .. } => failure.help("give --drop-scale, or leave the clip out with --clip"),
        E::NothingDriven { .. } | E::NoTracks { .. } => failure.help("choose other clips with --clip"),
        E::NothingMapped { .. } => {
            failure.help("the map goes from target to source: {\"target joint\": \"source joint\"}")
        }
        E::Fps { .. } | E::TooManyFrames { .. } => failure.help("give --fps keys a second, such as 30"),
        _ => failure,
    }
}

/// Name of the source joint whose movement counts.
fn hip(retarget: &Retarget, source: &Model) -> Option<String> {
    let hip = retarget.report().mapped.iter().find(|joint| joint.is_hip)?;
    Some(source.skeleton().names()[hip.source as usize].clone())
}

/// What was done.
struct Facts<'a> {
    retarget: &'a Retarget,
    source: &'a Model,
    target: &'a Model,
    clips: &'a [Clip],
    hip: Option<String>,
}

impl Facts<'_> {
    fn pairs(&self) -> Vec<(&str, &str)> {
        let (targets, sources) = (self.target.skeleton().names(), self.source.skeleton().names());
        let mapped = self.retarget.report().mapped.iter();
        mapped.map(|j| (targets[j.target as usize].as_str(), sources[j.source as usize].as_str())).collect()
    }

    fn unmapped(&self) -> Vec<&str> {
        let names = self.target.skeleton().names();
        self.retarget.report().unmapped.iter().map(|&node| names[node as usize].as_str()).collect()
    }

    fn text(&self, args: &Args, bytes: usize, lost: &[String]) -> String {
        let report = self.retarget.report();
        let mut out = vec![format!(
            "{}: {bytes} bytes, {} clips from {}",
            args.output.display(),
            self.clips.len(),
            args.source.display()
        )];
        let mut list = |what: &str, names: Vec<String>| {
            if !names.is_empty() {
                out.push(format!("  {} {what}: {}", names.len(), names.join(", ")));
            }
        };
        let pair = |(target, source): &(&str, &str)| match target == source {
            true => (*target).to_owned(),
            false => format!("{target} from {source}"),
        };
        let owned = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect();
        list("joints mapped", self.pairs().iter().map(pair).collect());
        list("target joints without a source", owned(self.unmapped()));
        let unknown =
            report.unknown_sources.iter().map(|(target, source)| format!("{source} (for {target})"));
        list("source names that do not exist", unknown.collect());
        list("target names that do not exist", report.unknown_targets.clone());
        list("local offsets without effect", report.unused_offsets.clone());
        let names = self.target.skeleton().names();
        let angle = |angle: &RestAngle| format!("{} by {:.0}", names[angle.target as usize], angle.degrees);
        let aligned = report.rest_angles.iter().filter(|angle| angle.is_aligned);
        list("joints aligned at rest, in degrees", aligned.map(angle).collect());
        match &self.hip {
            Some(hip) => out.push(format!("  hip: {hip}")),
            None => out.push("  no hip: rotations alone".into()),
        }
        for clip in self.clips {
            let keys = clip.tracks().first().map_or(0, |track| track.times.len());
            out.push(format!("  clip `{}`: {} tracks of {keys} keys", clip.name(), clip.tracks().len()));
        }
        out.extend(lost.iter().map(|lost| format!("  not carried over: {lost}")));
        out.join("\n")
    }

    fn data(&self, args: &Args, bytes: usize, lost: &[String]) -> String {
        let report = self.retarget.report();
        let clips = self.clips.iter().map(|clip| {
            let keys = clip.tracks().first().map_or(0, |track| track.times.len());
            json!({ "name": clip.name(), "duration": clip.duration(), "tracks": clip.tracks().len(), "keys": keys })
        });
        let pair = |(target, source): (&str, &str)| json!({ "target": target, "source": source });
        let unknown = report.unknown_sources.iter().map(|(target, source)| pair((target, source)));
        let names = self.target.skeleton().names();
        let angles = report.rest_angles.iter().map(|angle| {
            let target = &names[angle.target as usize];
            json!({ "target": target, "degrees": angle.degrees, "aligned": angle.is_aligned })
        });
        let data = json!({
            "source": args.source.display().to_string(),
            "target": args.target.display().to_string(),
            "output": args.output.display().to_string(),
            "bytes": bytes,
            "hip": self.hip,
            "mapped": self.pairs().into_iter().map(pair).collect::<Vec<_>>(),
            "unmapped": self.unmapped(),
            "unknownSources": unknown.collect::<Vec<_>>(),
            "unknownTargets": report.unknown_targets,
            "restAngles": angles.collect::<Vec<_>>(),
            "unusedOffsets": report.unused_offsets,
            "clips": clips.collect::<Vec<_>>(),
            "lost": lost,
        });
        format!("{data:#}")
    }
}
