use std::path::PathBuf;

use crate::{
    clip,
    encode::Encoder,
    failure::Failure,
    glb,
    gpu::Gpu,
    output::Output,
    playing::Playing,
    replay, skinning,
    stage::Stage,
    timeline::{MOST_FRAMES, Timeline, Wish},
    trace::Trace,
    ui::Ui,
};

/// Draw a model to a picture, numbered pictures or an animation
///
/// Without --time or --frames a PNG shows the middle of the clip, and anything animated one whole loop.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A .gltf or .glb file
    file: PathBuf,
    /// What to write: .png, .gif, .apng, or a folder (ending in /) for numbered PNGs
    #[arg(short, long, value_name = "PATH")]
    output: PathBuf,
    /// Name or index of the clip [default: the first one; the rest pose where there is none]
    #[arg(long, value_name = "NAME|INDEX")]
    clip: Option<String>,
    /// Several clips at once with their weights, such as walk:0.3,run:0.7; the first one gives the times
    #[arg(long, value_name = "NAME:WEIGHT,..", conflicts_with = "clip")]
    blend: Option<String>,
    /// Name or index of a node to hide with everything below it; may be given several times
    #[arg(long, value_name = "NODE")]
    hide: Vec<String>,
    #[command(flatten)]
    skinning: skinning::Choice,
    /// Draw one picture, this many seconds into the clip
    #[arg(long, value_name = "SECONDS", value_parser = clip::seconds, conflicts_with = "frames")]
    time: Option<f64>,
    /// Draw this many pictures from the clip's start
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=MOST_FRAMES as i64))]
    frames: Option<u32>,
    /// Pictures a second
    #[arg(long, default_value = "20", value_parser = rate)]
    fps: f64,
    /// Size of the picture in pixels
    #[arg(long, default_value = "640x480", value_name = "WIDTHxHEIGHT", value_parser = size)]
    size: [u32; 2],
    /// Part of the name of the adapter to draw with [default: the best one]
    #[arg(long, value_name = "NAME")]
    adapter: Option<String>,
    /// Save all that the deformation of the last picture read, and what came out, for `sinew replay`
    #[arg(long, value_name = "FILE")]
    capture: Option<PathBuf>,
    /// Write a trace for chrome://tracing or ui.perfetto.dev
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
}

pub(crate) fn run(args: &Args, ui: &Ui) -> Result<(), Failure> {
    let output = Output::new(&args.output)?;
    if !output.is_animated() && args.frames.is_some_and(|frames| frames > 1) {
        return Err(Failure::usage("--frames draws several pictures, but a .png holds one")
            .help("write to a folder, a .gif or an .apng"));
    }
    if args.trace.as_ref() == Some(&args.output) {
        return Err(
            Failure::usage("--trace and --output name the same file").help("give the trace another name")
        );
    }
    let trace = args.trace.as_deref().map(Trace::start).transpose()?;
    glb::spare(&[&args.file], args.capture.iter().chain(&args.trace))?;
    let model = args.skinning.load(&args.file, ui)?;
    let (clip, blend) = (args.clip.as_deref(), args.blend.as_deref());
    let playing = Playing::new(&model, clip, blend, &args.hide, &args.file)?;
    let wish = Wish { time: args.time, frames: args.frames, fps: args.fps, animated: output.is_animated() };
    let timeline = Timeline::new(&model, playing.first(), wish);

    let gpu = Gpu::open(args.adapter.as_deref())?;
    if let Some(trace) = &trace {
        trace.name_gpu(gpu.device.features().contains(wgpu::Features::TIMESTAMP_QUERY));
    }
    check_size(args.size, &gpu)?;
    let played = playing.describe(&model);
    let mut stage = Stage::new(&gpu, &model, playing, args.size, *ui)?;
    let encoder = Encoder::start(&output, timeline.times.len(), timeline.delay)?;
    let drawn = draw(&mut stage, &timeline, &encoder, trace.as_ref(), ui);
    let written = encoder.finish();
    drawn?;
    written?;
    if let Some(path) = &args.capture {
        replay::write(&stage.capture()?, path, ui)?;
    }
    let frames = timeline.times.len();
    let s = if frames == 1 { "" } else { "s" };
    ui.note(format_args!("{}: {frames} frame{s} of {played}, drawn by {}", args.output.display(), gpu.name));
    trace.map_or(Ok(()), Trace::finish)
}

/// Draws ahead by as many frames as fit, so that drawing, reading back and encoding overlap.
fn draw(
    stage: &mut Stage<'_>,
    timeline: &Timeline,
    encoder: &Encoder,
    trace: Option<&Trace>,
    ui: &Ui,
) -> Result<(), Failure> {
    let bar = ui.bar(timeline.times.len(), "rendering");
    for &time in &timeline.times {
        if stage.is_full()
            && let Some(picture) = stage.take()?
        {
            // A failed encoder says why when it is finished.
            if !encoder.push(picture) {
                return Ok(());
            }
            bar.inc(1);
        }
        stage.draw(time)?;
        if let Some(trace) = trace {
            trace.frame(stage.timings());
        }
    }
    while let Some(picture) = stage.take()? {
        if !encoder.push(picture) {
            return Ok(());
        }
        bar.inc(1);
    }
    if let Some(trace) = trace {
        trace.gpu_times(stage.timings());
    }
    bar.finish_and_clear();
    Ok(())
}

pub(crate) fn check_size([width, height]: [u32; 2], gpu: &Gpu) -> Result<(), Failure> {
    let most = gpu.device.limits().max_texture_dimension_2d;
    if width.max(height) <= most {
        return Ok(());
    }
    Err(Failure::usage(format_args!("{width}x{height} is more than {} can draw", gpu.name))
        .help(format_args!("choose at most {most} pixels along a side")))
}

pub(crate) fn size(text: &str) -> Result<[u32; 2], String> {
    let side = |s: &str| s.parse::<u32>().ok().filter(|s| (1..=16384).contains(s));
    let both = text.split_once(['x', 'X']).and_then(|(w, h)| Some([side(w)?, side(h)?]));
    both.ok_or_else(|| "give width and height from 1 to 16384, such as 640x480".into())
}

fn rate(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|r| (0.1..=1000.0).contains(r));
    number.ok_or_else(|| "give pictures a second, from 0.1 to 1000".into())
}
