//! `sinew fix`: a repaired file.

use std::{fs, path::PathBuf};

use serde_json::{Value, json};
use sinew::{
    Model,
    fix::{FixOptions, fix},
    model::Severity,
};

use crate::{failure::Failure, glb, inspect::finding, load, ui::Ui};

/// Write a repaired file: weights sum up to one and are sorted, joints and targets that do nothing are dropped
///
/// What loading repairs is repaired in the file: see `sinew inspect`. Cameras, lights, extras and extensions that this
/// program does not read are not carried over; it says which.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A .gltf or .glb file
    file: PathBuf,
    /// The .glb file to write
    #[arg(long, short, value_name = "FILE.glb")]
    output: PathBuf,
    /// Most influences of a vertex; more are cut to the strongest, and how far that moves it is said
    #[arg(long, default_value_t = FixOptions::default().influences, value_name = "N", value_parser = influences)]
    influences: usize,
    /// The report as data
    #[arg(long)]
    json: bool,
}

fn influences(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(influences @ 1..=1024) => Ok(influences),
        _ => Err("give a number from 1 to 1024".into()),
    }
}

pub(crate) fn run(args: &Args, ui: &Ui) -> Result<(), Failure> {
    glb::check(&args.output, &[&args.file])?;
    let model = load::read(&args.file, ui).map_err(|error| load::explain(&args.file, &error))?;
    let fixed = fix(&model, &FixOptions { influences: args.influences })?;
    let bytes = glb::write(&args.output, &fixed.model)?;
    let repairs = model.diagnostics().iter().filter(|finding| finding.severity == Severity::Repaired);
    let changes: Vec<_> = repairs.chain(&fixed.changes).collect();
    let lost = lost(&args.file, &model);
    if args.json {
        let report = json!({
            "file": args.file.display().to_string(),
            "output": args.output.display().to_string(),
            "bytes": bytes,
            "changes": changes.iter().map(|change| finding(change)).collect::<Vec<_>>(),
            "lost": lost,
        });
        return ui.result(format!("{report:#}"));
    }
    let mut out = vec![format!("{}: {} bytes, {} changes", args.output.display(), bytes, changes.len())];
    out.extend(changes.iter().map(|change| format!("  {change}")));
    out.extend(lost.iter().map(|lost| format!("  not carried over: {lost}")));
    ui.result(out.join("\n"))
}

/// What the file holds and a model does not.
pub(crate) fn lost(path: &std::path::Path, model: &Model) -> Vec<String> {
    let ignored = model.diagnostics().iter().filter(|finding| finding.code == "extension-ignored");
    let mut lost: Vec<String> = ignored.map(|finding| finding.message.clone()).collect();
    let Some(document) = document(path) else { return lost };
    let cameras = document.get("cameras").and_then(Value::as_array).map_or(0, Vec::len);
    if cameras > 0 {
        lost.push(format!("{cameras} camera{}", if cameras == 1 { "" } else { "s" }));
    }
    let extras = count_extras(&document);
    if extras > 0 {
        lost.push(format!("extras in {extras} place{}", if extras == 1 { "" } else { "s" }));
    }
    lost
}

/// The JSON of a file that has loaded; none where it nests too deeply to be worth a look.
fn document(path: &std::path::Path) -> Option<Value> {
    let bytes = fs::read(path).ok()?;
    let json = if bytes.starts_with(b"glTF") {
        let length = u32::from_le_bytes(bytes.get(12..16)?.try_into().ok()?);
        bytes.get(20..)?.get(..length as usize)?
    } else {
        &bytes
    };
    serde_json::from_slice(json).ok()
}

/// Names of targets are kept, other extras are not.
fn count_extras(value: &Value) -> usize {
    match value {
        Value::Array(list) => list.iter().map(count_extras).sum(),
        Value::Object(map) => map
            .iter()
            .map(|(key, value)| {
                let is_kept = || value.as_object().is_some_and(|extras| extras.keys().eq(["targetNames"]));
                if key == "extras" { usize::from(!is_kept()) } else { count_extras(value) }
            })
            .sum(),
        _ => 0,
    }
}
