use std::{
    fs,
    path::{Component, Path, PathBuf},
};

use sinew::Model;

use crate::{
    clip,
    engine::{Engine, Pose},
    failure::Failure,
    glb,
    gpu::Gpu,
    oracle::Oracle,
    posed::{self, Format, Range, Wish},
    replay, skinning,
    ui::Ui,
};

/// Write deformed vertices: as a model without a skeleton (.glb, .obj), or as numbers
///
/// Time is clamped to the clip. Without --clip the rest pose is written. A stretch of a clip becomes numbered files, or
/// with --targets one .glb with a morph target for each further frame. Numbers are positions, normals and tangents of
/// every primitive, in world space.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A .gltf or .glb file
    #[arg(required_unless_present = "jobs")]
    file: Option<PathBuf>,
    /// What to write: .glb, .obj (with an .mtl beside it), or the folder to write FILE.json and FILE.bin to
    #[arg(short, long, value_name = "PATH")]
    output: PathBuf,
    /// Name or index of the clip
    #[arg(long, value_name = "NAME|INDEX", conflicts_with = "jobs")]
    clip: Option<String>,
    /// Seconds into the clip
    #[arg(long, value_name = "SECONDS", value_parser = clip::seconds, default_value = "0", requires = "clip")]
    time: f64,
    #[command(flatten)]
    range: Range,
    #[command(flatten)]
    skinning: skinning::Choice,
    /// A JSON list of {file, clip, time} to write instead; `clip` is an index or null
    #[arg(long, value_name = "FILE", requires = "root", conflicts_with = "file")]
    jobs: Option<PathBuf>,
    /// The folder that the files of --jobs lie in
    #[arg(long, value_name = "DIR", requires = "jobs")]
    root: Option<PathBuf>,
    /// Deform numbers on the CPU, as models always are
    #[arg(long)]
    cpu: bool,
    /// Part of the name of the adapter to deform numbers with [default: the best one]
    #[arg(long, value_name = "NAME", conflicts_with = "cpu")]
    adapter: Option<String>,
    /// Save all that the deformation read, and what came out, for `sinew replay`
    #[arg(long, value_name = "FILE", conflicts_with = "jobs")]
    capture: Option<PathBuf>,
}

#[derive(Debug)]
struct Job {
    file: String,
    clip: Option<u32>,
    time: f64,
}

pub(crate) fn run(args: &Args, ui: &Ui) -> Result<(), Failure> {
    if let Some(format) = Format::of(&args.output) {
        return run_model(args, format, ui);
    }
    if let Some(other) = posed::unknown_format(&args.output) {
        return Err(Failure::usage(format_args!("models are not written as .{other}"))
            .help("end the output in .glb or .obj; other names are folders for numbers"));
    }
    if args.range.is_given() {
        return Err(Failure::usage("a stretch of a clip is written as models, not as numbers")
            .help("end the output in .glb or .obj, or give --time"));
    }
    let mut engine = if args.cpu { Engine::cpu() } else { Engine::gpu(Gpu::open(args.adapter.as_deref())?) };
    ui.note(format_args!("deformed by {engine}"));
    let (Some(jobs), Some(root)) = (&args.jobs, &args.root) else {
        let file = args.file.as_deref().unwrap_or(Path::new(""));
        let name = file.file_name().map_or_else(Default::default, |name| name.to_string_lossy().into_owned());
        if let Some(capture) = &args.capture {
            glb::spare(&[file], [capture])?;
        }
        let model = args.skinning.load(file, ui)?;
        let clip = clip::or_rest(&model, args.clip.as_deref(), file)?;
        bake(&mut engine, &model, &[(clip, args.time)], &args.output, &name)?;
        let Some(path) = &args.capture else { return Ok(()) };
        return replay::write(&engine.capture(&model, (clip, args.time))?, path, ui);
    };
    run_jobs(args, &mut engine, &read_jobs(jobs)?, root, ui)
}

/// One pose or a stretch of a clip as models.
fn run_model(args: &Args, format: Format, ui: &Ui) -> Result<(), Failure> {
    let Some(file) = args.file.as_deref().filter(|_| args.jobs.is_none() && args.adapter.is_none()) else {
        return Err(Failure::usage("--jobs and --adapter are for numbers, not for models")
            .help("give one file, and a folder as the output for numbers"));
    };
    if args.capture.is_some() {
        return Err(Failure::usage("--capture is for numbers, not for models")
            .help("give a folder as the output, or leave --capture away"));
    }
    let model = args.skinning.load(file, ui)?;
    let clip = clip::or_rest(&model, args.clip.as_deref(), file)?;
    let times = args.range.times(&model, clip)?.unwrap_or_default();
    posed::write(
        &model,
        clip,
        &Wish { input: file, output: &args.output, format, time: args.time, times, range: &args.range },
        ui,
    )
}

/// Bakes every file of a job list; one that fails is named, and the others go on.
fn run_jobs(args: &Args, engine: &mut Engine, jobs: &[Job], root: &Path, ui: &Ui) -> Result<(), Failure> {
    let mut files: Vec<(&str, Vec<Pose>)> = Vec::new();
    for job in jobs {
        match files.iter_mut().find(|(file, _)| *file == job.file) {
            Some((_, poses)) => poses.push((job.clip, job.time)),
            None => files.push((&job.file, vec![(job.clip, job.time)])),
        }
    }
    let bar = ui.bar(files.len(), "baking");
    let mut failed = 0;
    for (file, poses) in &files {
        let inside = Path::new(file).components().all(|part| matches!(part, Component::Normal(_)));
        let result = if inside {
            let model = args.skinning.load(&root.join(file), &ui.quietly());
            model.and_then(|model| bake(engine, &model, poses, &args.output, file))
        } else {
            Err(Failure::new(format_args!("`{file}` is not a path inside the root")))
        };
        if let Err(failure) = result {
            bar.suspend(|| ui.fail(&failure));
            failed += 1;
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    if failed == 0 {
        return Ok(());
    }
    Err(Failure::new(format_args!("{failed} of {} files failed", files.len())))
}

fn bake(
    engine: &mut Engine,
    model: &Model,
    poses: &[Pose],
    output: &Path,
    file: &str,
) -> Result<(), Failure> {
    let mut oracle = Oracle::default();
    engine.bake(model, poses, |clip, time, baked| oracle.push(model, clip, time, baked))?;
    oracle.write(&output.join(file), file)
}

fn read_jobs(path: &Path) -> Result<Vec<Job>, Failure> {
    let text = fs::read_to_string(path)
        .map_err(|error| Failure::new(format_args!("cannot read `{}`: {error}", path.display())))?;
    parse_jobs(&text).map_err(|problem| {
        Failure::new(format_args!("`{}` is no list of jobs: {problem}", path.display()))
            .help(r#"write [{"file": "fox.glb", "clip": 0, "time": 0.5}]; "clip": null is the rest pose"#)
    })
}

fn parse_jobs(text: &str) -> Result<Vec<Job>, String> {
    let list: Vec<serde_json::Value> = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let job =
        |(index, value)| parse_job(value).ok_or_else(|| format!("job {index} lacks file, clip or time"));
    list.iter().enumerate().map(job).collect()
}

fn parse_job(value: &serde_json::Value) -> Option<Job> {
    let clip = value.get("clip")?;
    let index = || u32::try_from(clip.as_u64()?).ok();
    Some(Job {
        file: value.get("file")?.as_str()?.to_owned(),
        clip: if clip.is_null() { None } else { Some(index()?) },
        time: value.get("time")?.as_f64()?,
    })
}
