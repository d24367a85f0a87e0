use std::{
    fs,
    path::{Path, PathBuf},
};

use sinew::deform::{Capture, CaptureError, CaptureOutput, PartDifference, Worst};

use crate::{encode::cannot_write, failure::Failure, gpu::Gpu, ui::Ui};

/// Deform a captured frame again, on any adapter or the CPU, and say whether the same comes out
///
/// Exits with 1 where a vertex is farther off than GPUs and the CPU are from each other: positions by 1e-5 of the
/// part's diagonal or two steps of f32, directions by 2e-4 (packed) or 1e-5 (exact).
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// What --capture has written
    file: PathBuf,
    /// Deform on the CPU
    #[arg(long)]
    cpu: bool,
    /// Part of the name of the adapter to deform with [default: the best one]
    #[arg(long, value_name = "NAME", conflicts_with = "cpu")]
    adapter: Option<String>,
    /// List the farthest position, normal and tangent of every part
    #[arg(long)]
    diff: bool,
}

pub(crate) fn run(args: &Args, ui: &Ui) -> Result<(), Failure> {
    let capture = read(&args.file)?;
    let variants: Vec<_> =
        capture.variants().into_iter().map(|(v, items)| format!("{items} × ({v})")).collect();
    ui.note(format_args!(
        "captured by sinew {} on {}: {} parts; work items: {}",
        capture.library(),
        capture.adapter(),
        capture.parts().count(),
        variants.join(", ")
    ));
    let (output, by) = if args.cpu {
        (capture.replay(), "the CPU".to_owned())
    } else {
        let gpu = Gpu::open(args.adapter.as_deref())?;
        (on_gpu(&gpu, &capture)?, gpu.name.to_string())
    };
    let differences = capture.compare(&output);
    if args.diff {
        differences.iter().try_for_each(|part| ui.result(line(part)))?;
    }
    let far = differences.iter().filter(|part| !part.is_within()).count();
    if far > 0 {
        let failure = format_args!("{by}: {far} of {} parts are not what was captured", differences.len());
        return Err(Failure::new(failure).help("--diff lists them, --cpu asks the CPU"));
    }
    ui.result(format_args!("{by}: the same within the tolerances, {} parts", differences.len()))
}

/// Writes a capture for `sinew replay`.
pub(crate) fn write(capture: &Capture, path: &Path, ui: &Ui) -> Result<(), Failure> {
    let bytes = capture.to_bytes();
    fs::write(path, &bytes).map_err(|error| cannot_write(path, &error))?;
    ui.note(format_args!("{}: {} bytes, for `sinew replay`", path.display(), bytes.len()));
    Ok(())
}

fn read(path: &Path) -> Result<Capture, Failure> {
    let fail = |error: &dyn std::fmt::Display| Failure::new(format_args!("`{}`: {error}", path.display()));
    let bytes = fs::read(path).map_err(|error| fail(&error))?;
    Capture::from_bytes(&bytes).map_err(|error| fail(&error))
}

fn on_gpu(gpu: &Gpu, capture: &Capture) -> Result<CaptureOutput, Failure> {
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    let replay = capture.record_replay(&gpu.device, &gpu.queue, &mut encoder)?;
    gpu.queue.submit([encoder.finish()]);
    gpu.wait()?;
    let output = replay.output().map_err(CaptureError::from)?;
    output.ok_or_else(|| Failure::new(format_args!("{} did not finish", gpu.name)))
}

fn line(difference: &PartDifference) -> String {
    let part = &difference.part;
    let worst = |what: &str, worst: Worst| {
        if worst.share == 0.0 {
            return format!("{what} equal");
        }
        let Worst { vertex, difference, share } = worst;
        format!("{what} {difference:.3e} at vertex {vertex} ({:.0}% of what is allowed)", share * 100.0)
    };
    format!(
        "{} instance {} `{}` part {}, {} vertices, {:?}: {}; {}; {}",
        if difference.is_within() { "ok " } else { "far" },
        part.instance,
        part.model,
        part.part,
        part.vertices,
        part.precision,
        worst("positions", difference.position),
        worst("normals", difference.normal),
        worst("tangents", difference.tangent),
    )
}
