//! The frame graph of a character's frame, for reading.

use std::path::{Path, PathBuf};

use clap::ValueEnum;

use crate::{
    clip, encode::cannot_write, failure::Failure, gpu::Gpu, load::load, playing::Playing, render,
    stage::Stage, ui::Ui,
};

/// Frames that are drawn so that GPU times have come back.
const FRAMES: u32 = 16;

/// Show the frame graph that draws a model: passes, lifetimes, memory, what was culled, measured times
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A .gltf or .glb file
    file: PathBuf,
    /// How to write it [default: by the name of the output, or text]
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Where to write it [default: standard output]
    #[arg(short, long, value_name = "PATH")]
    output: Option<PathBuf>,
    /// Name or index of the clip [default: the first one; the rest pose where there is none]
    #[arg(long, value_name = "NAME|INDEX")]
    clip: Option<String>,
    /// Size of the picture in pixels
    #[arg(long, default_value = "1280x720", value_name = "WIDTHxHEIGHT", value_parser = render::size)]
    size: [u32; 2],
    /// Part of the name of the adapter to draw with [default: the best one]
    #[arg(long, value_name = "NAME")]
    adapter: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// One line per pass and resource
    Text,
    /// For Graphviz
    Dot,
    /// For programs
    Json,
    /// One page for a browser
    Html,
}

impl Format {
    fn of(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_string_lossy().to_ascii_lowercase();
        match extension.as_str() {
            "txt" => Some(Self::Text),
            "dot" | "gv" => Some(Self::Dot),
            "json" => Some(Self::Json),
            "html" | "htm" => Some(Self::Html),
            _ => None,
        }
    }
}

pub(crate) fn run(args: &Args, ui: &Ui) -> Result<(), Failure> {
    let format = match (args.format, &args.output) {
        (Some(format), _) => format,
        (None, None) => Format::Text,
        (None, Some(path)) => Format::of(path).ok_or_else(|| {
            Failure::usage(format_args!("`{}` does not say how to write a graph", path.display()))
                .help("end it in .txt, .dot, .json or .html, or give --format")
        })?,
    };
    let model = load(&args.file, ui)?;
    let clip = clip::choose(&model, args.clip.as_deref(), &args.file)?;
    let gpu = Gpu::open(args.adapter.as_deref())?;
    render::check_size(args.size, &gpu)?;
    let mut stage = Stage::new(&gpu, &model, Playing::clip(clip), args.size, *ui)?;
    for frame in 0..FRAMES {
        stage.draw(f64::from(frame) / 60.0)?;
        stage.take()?;
    }
    let name = args.file.file_name().unwrap_or(args.file.as_os_str()).to_string_lossy();
    let title = format!("Frame graph of {name}, drawn by {}", gpu.name);
    let report = stage.report(&title, |report| match format {
        Format::Text => report.text(),
        Format::Dot => report.dot(),
        Format::Json => report.json(),
        Format::Html => report.html(),
    });
    match &args.output {
        None => ui.result(report.trim_end()),
        Some(path) => {
            std::fs::write(path, report).map_err(|error| cannot_write(path, &error))?;
            ui.note(format_args!("{}: {title}", path.display()));
            Ok(())
        }
    }
}
