//! Poses as models: one, numbered ones, or all of them as morph targets.

use std::{
    fs,
    path::{Path, PathBuf},
};

use sinew::{
    Animator, InstanceId, Model,
    deform::{PosedError, VertexAnimation, posed_model},
    model::Interpolation,
};

use crate::{clip, encode::cannot_write, engine::pose, failure::Failure, glb, timeline::MOST_FRAMES, ui::Ui};

/// Frames of one file of morph targets: its weights are as many as their square.
const MOST_TARGETS: usize = 2_000;

/// What kind of model is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Glb,
    Obj,
}

impl Format {
    /// By the end of the name; `None` where it says neither.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        let extension = path.extension()?;
        let is = |wanted: &str| extension.eq_ignore_ascii_case(wanted);
        if is("glb") { Some(Self::Glb) } else { is("obj").then_some(Self::Obj) }
    }
}

/// The end of a name by which somebody asks for a kind of model that is not written.
pub(crate) fn unknown_format(path: &Path) -> Option<String> {
    const KNOWN: [&str; 10] = ["gltf", "fbx", "dae", "usd", "usda", "usdc", "usdz", "stl", "ply", "blend"];
    let extension = path.extension()?.to_string_lossy().to_ascii_lowercase();
    KNOWN.contains(&extension.as_str()).then_some(extension)
}

/// A stretch of a clip.
#[derive(Debug, clap::Args)]
pub(crate) struct Range {
    /// Seconds into the clip of the first frame [default: the clip's start]
    #[arg(long, value_name = "SECONDS", value_parser = clip::seconds, requires = "clip", conflicts_with_all = ["time", "jobs"])]
    from: Option<f64>,
    /// Seconds into the clip up to which there are frames [default: the clip's end]
    #[arg(long, value_name = "SECONDS", value_parser = clip::seconds, requires = "clip", conflicts_with_all = ["time", "jobs"])]
    to: Option<f64>,
    /// Frames a second of the stretch [default: 30]
    #[arg(long, requires = "clip", conflicts_with_all = ["time", "jobs"])]
    fps: Option<f64>,
    /// One .glb with a morph target for each further frame and a clip that plays them
    #[arg(long, requires = "clip", conflicts_with_all = ["time", "jobs"])]
    targets: bool,
    /// What is between the frames of --targets
    #[arg(long, value_enum, default_value = "linear", requires = "targets")]
    interpolation: Between,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Between {
    /// The frame before
    Step,
    /// Straight lines
    Linear,
}

impl Range {
    /// Whether several frames are asked for.
    pub(crate) fn is_given(&self) -> bool {
        self.from.is_some() || self.to.is_some() || self.fps.is_some() || self.targets
    }

    /// The frames' times; `None` where one pose is asked for.
    pub(crate) fn times(&self, model: &Model, clip: Option<u32>) -> Result<Option<Vec<f64>>, Failure> {
        let clip = clip.and_then(|index| model.clips().get(index as usize)).filter(|_| self.is_given());
        let Some(clip) = clip else { return Ok(None) };
        let (start, end) = (f64::from(clip.start()), f64::from(clip.duration()));
        let (from, to) = (self.from.unwrap_or(start).max(0.0), self.to.unwrap_or(end).min(end));
        let fps = self.fps.unwrap_or(30.0);
        if !(fps > 0.0 && fps.is_finite()) {
            return Err(Failure::usage(format_args!("{fps} frames a second make no sense"))
                .help("give a number above 0, such as --fps 30"));
        }
        if !(from <= to) {
            return Err(Failure::usage(format_args!("there is nothing from {from} s to {to} s"))
                .help(format_args!("the clip goes from {start} s to {end} s")));
        }
        // A frame that rounding alone puts behind the end is the end.
        let frames = ((to - from) * fps + 1e-6).floor() + 1.0;
        let most = if self.targets { MOST_TARGETS } else { MOST_FRAMES };
        if frames > most as f64 {
            return Err(Failure::usage(format_args!("that would be {frames} frames, more than {most}"))
                .help("lower --fps, or give a shorter stretch with --from and --to"));
        }
        Ok(Some((0..frames as usize).map(|frame| (from + frame as f64 / fps).min(to)).collect()))
    }
}

/// What to write.
pub(crate) struct Wish<'a> {
    /// What is read.
    pub(crate) input: &'a Path,
    pub(crate) output: &'a Path,
    pub(crate) format: Format,
    /// Of one pose.
    pub(crate) time: f64,
    /// Of a stretch; empty for one pose.
    pub(crate) times: Vec<f64>,
    pub(crate) range: &'a Range,
}

/// An instance at the origin that is taken from pose to pose.
struct Actor {
    animator: Animator,
    instance: InstanceId,
    clip: Option<u32>,
}

impl Actor {
    fn at(&mut self, time: f64) -> Result<&Animator, Failure> {
        pose(&mut self.animator, self.instance, self.clip, time)?;
        self.animator.evaluate();
        Ok(&self.animator)
    }
}

impl Wish<'_> {
    /// Every file that will be written.
    fn files(&self) -> Vec<PathBuf> {
        let is_numbered = !self.times.is_empty() && !self.range.targets;
        let models = match is_numbered {
            true => (1..=self.times.len()).map(|frame| numbered(self.output, frame)).collect(),
            false => vec![self.output.to_path_buf()],
        };
        let with_materials = |path: PathBuf| match self.format {
            Format::Glb => vec![path],
            Format::Obj => vec![materials_of(&path), path],
        };
        models.into_iter().flat_map(with_materials).collect()
    }
}

pub(crate) fn write(model: &Model, clip: Option<u32>, wish: &Wish<'_>, ui: &Ui) -> Result<(), Failure> {
    glb::spare(&[wish.input], wish.files())?;
    let mut animator = Animator::new();
    let id = animator.add_model(model);
    let instance = animator.spawn(id)?;
    let mut actor = Actor { animator, instance, clip };
    if let Some(folder) = wish.output.parent() {
        fs::create_dir_all(folder).map_err(|error| cannot_write(folder, &error))?;
    }
    if wish.range.targets {
        let name = clip.and_then(|clip| model.clips().get(clip as usize)).map_or("", |clip| clip.name());
        return write_targets(&mut actor, name, wish, ui);
    }
    if wish.times.is_empty() {
        let posed =
            posed_model(actor.at(wish.time)?, instance).map_err(|error| explain(wish.input, error))?;
        return write_model(&posed, wish.format, wish.output);
    }
    let bar = ui.bar(wish.times.len(), "baking");
    for (frame, &time) in (1..).zip(&wish.times) {
        let posed = posed_model(actor.at(time)?, instance).map_err(|error| explain(wish.input, error))?;
        write_model(&posed, wish.format, &numbered(wish.output, frame))?;
        bar.inc(1);
    }
    bar.finish_and_clear();
    ui.note(format_args!("{}: the first of {} files", numbered(wish.output, 1).display(), wish.times.len()));
    Ok(())
}

fn write_targets(actor: &mut Actor, name: &str, wish: &Wish<'_>, ui: &Ui) -> Result<(), Failure> {
    if wish.format != Format::Glb {
        return Err(Failure::usage("OBJ has no morph targets").help("end the output in .glb"));
    }
    let (bar, instance) = (ui.bar(wish.times.len(), "baking"), actor.instance);
    let mut animation = VertexAnimation::new();
    for &time in &wish.times {
        // Frames count from the start of the stretch.
        let time_in_stretch = (time - wish.times[0]) as f32;
        let pushed = animation.push(actor.at(time)?, instance, time_in_stretch);
        pushed.map_err(|error| explain(wish.input, error))?;
        bar.inc(1);
    }
    bar.finish_and_clear();
    let interpolation = match wish.range.interpolation {
        Between::Step => Interpolation::Step,
        Between::Linear => Interpolation::Linear,
    };
    let frames = animation.frames();
    write_model(&animation.finish(name, interpolation)?, wish.format, wish.output)?;
    ui.note(format_args!("{}: {frames} frames as morph targets", wish.output.display()));
    Ok(())
}

/// An error in the words of the program.
fn explain(input: &Path, error: PosedError) -> Failure {
    match error {
        PosedError::NothingShown { .. } => {
            Failure::new(format_args!("the scene of `{}` has no meshes", input.display()))
                .help("`sinew inspect` lists what the file holds")
        }
        other => other.into(),
    }
}

/// `posed.0001.glb` for `posed.glb`.
fn numbered(path: &Path, frame: usize) -> PathBuf {
    let extension = path.extension().map(|extension| extension.to_string_lossy().into_owned());
    path.with_extension(format!("{frame:04}.{}", extension.unwrap_or_default()))
}

/// What is written beside an .obj file.
fn materials_of(path: &Path) -> PathBuf {
    path.with_extension("mtl")
}

fn write_model(model: &Model, format: Format, path: &Path) -> Result<(), Failure> {
    let put = |path: &Path, text: &str| fs::write(path, text).map_err(|error| cannot_write(path, &error));
    match format {
        Format::Glb => glb::write(path, model).map(|_| ()),
        Format::Obj => {
            let materials = materials_of(path);
            let name = materials.file_name().unwrap_or_default().to_string_lossy();
            let written = model.to_obj(&name);
            put(path, &written.obj)?;
            if written.mtl.is_empty() { Ok(()) } else { put(&materials, &written.mtl) }
        }
    }
}
