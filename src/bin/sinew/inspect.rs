//! `sinew inspect`: what a file holds, what loading found, and what is odd about the rig.

use std::{collections::BTreeSet, path::PathBuf};

use clap::ValueEnum;
use serde_json::{Value, json};
use sinew::{
    Model, Precision,
    animate::{CompressError, CompressOptions, CompressedClip, CompressedClips},
    import::codes,
    lint::{self, LintOptions},
    model::{Clip, Diagnostic, Interpolation, Mesh, Primitive, Severity, Skin, Topology},
};

use crate::{failure::Failure, load, ui::Ui};

/// Say what a file holds, what loading found and what is odd about the rig
///
/// Exits with 0 for a file that loads, even if it was repaired; with 1 for one that is refused, and for findings under
/// --strict or --deny.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A .gltf or .glb file
    file: PathBuf,
    /// As data; docs/inspect.schema.json describes it
    #[arg(long)]
    json: bool,
    /// Fail where the file breaks the specification and was repaired, or is shown without what it requires
    #[arg(long)]
    strict: bool,
    /// Fail on findings of this severity or a higher one
    #[arg(long, value_name = "SEVERITY")]
    deny: Option<Deny>,
    /// Times of each clip at which cut influences are compared
    #[arg(long, default_value_t = LintOptions::default().times, value_name = "N", value_parser = times)]
    times: usize,
}

fn times(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(times @ 2..=10_000) => Ok(times),
        _ => Err("give a number from 2 to 10000".into()),
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Deny {
    /// Everything that is found
    Info,
    /// What was ignored or does not work everywhere, and repairs
    Warnings,
    /// What was repaired
    Repairs,
}

impl Args {
    /// Whether a finding makes the program fail. Strict loading refuses some warnings too.
    fn denies(&self, finding: &Diagnostic) -> bool {
        let least = match self.deny {
            Some(Deny::Info) => Some(Severity::Info),
            Some(Deny::Warnings) => Some(Severity::Warning),
            Some(Deny::Repairs) => Some(Severity::Repaired),
            None => None,
        };
        let strict =
            finding.severity == Severity::Repaired || finding.code == codes::EXTENSION_REQUIRED_IGNORED.name;
        least.is_some_and(|least| finding.severity >= least) || self.strict && strict
    }
}

pub(crate) fn run(args: &Args, ui: &Ui) -> Result<(), Failure> {
    let model = match load::read(&args.file, ui) {
        Ok(model) => model,
        Err(error) => {
            let failure = load::explain(&args.file, &error);
            if args.json {
                let refused = json!({ "message": error.to_string(), "help": error.help() });
                ui.result(format!(
                    "{:#}",
                    json!({ "file": args.file.display().to_string(), "refused": refused })
                ))?;
            }
            return Err(failure);
        }
    };
    let options = LintOptions { times: args.times };
    let mut findings = model.diagnostics().to_vec();
    findings.extend(lint::lint(&model, &options));
    let inspected = Inspected { file: args.file.display().to_string(), model, findings };
    ui.result(if args.json {
        format!("{:#}", report(&inspected))
    } else {
        text(&inspected).trim_end().into()
    })?;
    let denied = inspected.findings.iter().filter(|finding| args.denies(finding)).count();
    if denied == 0 {
        return Ok(());
    }
    let findings = if denied == 1 { "finding is" } else { "findings are" };
    Err(Failure::new(format_args!("`{}`: {denied} {findings} not allowed", inspected.file))
        .help("`sinew fix` writes a repaired file; docs/codes.md says what each code means"))
}

struct Inspected {
    file: String,
    model: Model,
    findings: Vec<Diagnostic>,
}

/// The report as data; the text below says the same.
fn report(Inspected { file, model, findings }: &Inspected) -> Value {
    let parts = model.parts().iter().map(
        |part| json!({ "node": part.node, "mesh": part.mesh, "skin": part.skin, "weights": part.weights }),
    );
    let compressed = compress(model);
    let image = |image: &sinew::model::Image| json!({ "name": image.name, "mimeType": image.mime_type, "bytes": image.bytes.len() });
    json!({
        "file": file,
        "nodes": model.skeleton().len(),
        "scenes": model.scenes().iter().map(|s| json!({ "name": s.name, "roots": s.roots })).collect::<Vec<_>>(),
        "defaultScene": model.default_scene(),
        "skins": model.skins().iter().map(|s| skin(model, s)).collect::<Vec<_>>(),
        "meshes": model.meshes().iter().map(mesh).collect::<Vec<_>>(),
        "parts": parts.collect::<Vec<_>>(),
        "clips": model.clips().iter().zip(compressed_clips(model, &compressed)).map(clip).collect::<Vec<_>>(),
        "materials": model.materials().iter().map(|m| json!({ "name": m.name })).collect::<Vec<_>>(),
        "textures": model.textures().iter().map(|t| json!({ "image": t.image })).collect::<Vec<_>>(),
        "images": model.images().iter().map(image).collect::<Vec<_>>(),
        "cost": { "packed": cost(model, Precision::Packed), "exact": cost(model, Precision::Exact) },
        "findings": findings.iter().map(finding).collect::<Vec<_>>(),
    })
}

pub(crate) fn finding(d: &Diagnostic) -> Value {
    let numbers: serde_json::Map<_, _> =
        d.numbers.iter().map(|(name, value)| ((*name).into(), json!(value))).collect();
    json!({
        "severity": d.severity.to_string(),
        "code": d.code,
        "place": d.place,
        "message": d.message,
        "numbers": numbers,
        "spec": d.spec,
        "fix": d.fix,
    })
}

fn cost(model: &Model, precision: Precision) -> Value {
    let cost = lint::cost(model, precision);
    json!({
        "vertices": cost.vertices,
        "joints": cost.joints,
        "paletteBytes": cost.palette_bytes,
        "outputBytes": cost.output_bytes,
        "items": cost.items,
        "dispatches": cost.dispatches,
    })
}

fn skin(model: &Model, skin: &Skin) -> Value {
    let names = model.skeleton().names();
    let joint = |node: &u32| json!({ "node": node, "name": names[*node as usize] });
    json!({ "name": skin.name(), "joints": skin.joints().iter().map(joint).collect::<Vec<_>>() })
}

fn mesh(mesh: &Mesh) -> Value {
    json!({
        "name": mesh.name(),
        "targets": mesh.target_names(),
        "weights": mesh.weights(),
        "primitives": mesh.primitives().iter().map(primitive).collect::<Vec<_>>(),
    })
}

fn primitive(primitive: &Primitive) -> Value {
    json!({
        "topology": topology(primitive.topology()),
        "vertices": primitive.source_vertex_count(),
        "deformedVertices": primitive.vertex_count(),
        "indices": primitive.indices().len(),
        "influences": influences(primitive),
        "targets": primitive.targets().len(),
        "chunks": primitive.chunks().len(),
        "uvSets": primitive.uv_sets().len(),
        "colorSets": primitive.colors().len(),
        "normals": if primitive.has_flat_normals() { "flat" } else if primitive.normals().is_empty() { "none" } else { "file" },
        "tangents": !primitive.tangents().is_empty(),
        "material": primitive.material(),
    })
}

fn influences(primitive: &Primitive) -> usize {
    primitive.influences().map_or(0, |i| i.max_per_vertex())
}

fn topology(topology: Topology) -> &'static str {
    match topology {
        Topology::Points => "points",
        Topology::Lines => "lines",
        Topology::LineStrip => "line strip",
        Topology::Triangles => "triangles",
        Topology::TriangleStrip => "triangle strip",
    }
}

/// Times that clips have keys at, times nodes, beyond which compressing takes too long for a report.
const MOST_WORK: usize = 1 << 20;

/// The clips in compressed form, unless that is too much work.
fn compress(model: &Model) -> Option<CompressedClips> {
    let times = model.clips().iter().map(|clip| {
        let times = clip.tracks().iter().flat_map(|track| &track.times).map(|time| time.to_bits());
        times.collect::<BTreeSet<_>>().len()
    });
    let work = times.sum::<usize>().saturating_mul(model.skeleton().len());
    (work <= MOST_WORK).then(|| CompressedClips::new(model, &CompressOptions::default()))
}

type Compressed<'a> = Option<Result<&'a CompressedClip, &'a CompressError>>;

/// One for each clip.
fn compressed_clips<'a>(
    model: &Model,
    clips: &'a Option<CompressedClips>,
) -> impl Iterator<Item = Compressed<'a>> {
    (0..model.clips().len() as u32).map(move |clip| clips.as_ref()?.get(clip))
}

fn clip((clip, compressed): (&Clip, Compressed<'_>)) -> Value {
    let compressed = compressed.map(|compressed| match compressed {
        Ok(packed) => json!({
            "bytes": packed.bytes(),
            "error": packed.error(),
            "exactTracks": packed.exact_tracks(),
        }),
        Err(refusal) => json!({ "refused": refusal.to_string() }),
    });
    json!({
        "name": clip.name(),
        "start": clip.start(),
        "duration": clip.duration(),
        "channels": clip.tracks().len(),
        "keys": keys(clip),
        "bytes": bytes(clip),
        "interpolations": kinds(clip),
        "compressed": compressed,
    })
}

/// Of times and values, as they are kept.
fn bytes(clip: &Clip) -> usize {
    clip.tracks().iter().map(|t| size_of_val(&t.times[..]) + size_of_val(&t.values[..])).sum()
}

fn keys(clip: &Clip) -> usize {
    clip.tracks().iter().map(|t| t.times.len()).sum()
}

fn kinds(clip: &Clip) -> BTreeSet<&'static str> {
    let kind = |interpolation| match interpolation {
        Interpolation::Step => "step",
        Interpolation::Linear => "linear",
        Interpolation::CubicSpline => "cubic spline",
    };
    clip.tracks().iter().map(|t| kind(t.interpolation)).collect()
}

fn text(Inspected { file, model, findings }: &Inspected) -> String {
    let mut out = vec![file.clone()];
    let scene = model.default_scene().map_or("none named".into(), |s| s.to_string());
    out.push(format!(
        "  {} nodes, {} scenes (default: {scene}), {} meshes at nodes, {} of them shown",
        model.skeleton().len(),
        model.scenes().len(),
        model.parts().len(),
        model.shown_parts().len(),
    ));
    for (i, skin) in model.skins().iter().enumerate() {
        out.push(format!("  skin {i}{}: {} joints", quoted(skin.name()), skin.joints().len()));
    }
    for (i, mesh) in model.meshes().iter().enumerate() {
        out.push(format!("  mesh {i}{}: {} targets", quoted(mesh.name()), mesh.weights().len()));
        for (p, primitive) in mesh.primitives().iter().enumerate() {
            out.push(format!(
                "    primitive {p}: {}, {} vertices ({} deformed), {} indices, up to {} influences, {} chunks",
                topology(primitive.topology()),
                primitive.source_vertex_count(),
                primitive.vertex_count(),
                primitive.indices().len(),
                influences(primitive),
                primitive.chunks().len(),
            ));
        }
    }
    let packed = compress(model);
    for (i, (clip, packed)) in model.clips().iter().zip(compressed_clips(model, &packed)).enumerate() {
        let packed = match packed {
            Some(Ok(packed)) => format!(
                "compressed {} bytes{}, off by at most {:.3} mm 10 cm from a joint",
                packed.bytes(),
                match packed.exact_tracks() {
                    0 => String::new(),
                    tracks => format!(" and {tracks} tracks as they are"),
                },
                packed.error() * 1e3
            ),
            Some(Err(refusal)) => format!("not compressed: {refusal}"),
            None => "too long to be compressed here".into(),
        };
        let kinds = kinds(clip).into_iter().collect::<Vec<_>>().join(", ");
        out.push(format!(
            "  clip {i}{}: {} to {} s, {} channels, {} keys, {kinds}, {} bytes; {packed}",
            quoted(clip.name()),
            clip.start(),
            clip.duration(),
            clip.tracks().len(),
            keys(clip),
            bytes(clip),
        ));
    }
    out.push(format!("  {} materials, {} textures", model.materials().len(), model.textures().len()));
    for (i, image) in model.images().iter().enumerate() {
        let kind = if image.bytes.is_empty() { "not read" } else { &image.mime_type };
        out.push(format!("  image {i}{}: {kind}, {} bytes", quoted(&image.name), image.bytes.len()));
    }
    let cost = lint::cost(model, Precision::Packed);
    out.push(format!(
        "  each frame and instance: {} vertices, {} bytes of palettes in, {} bytes of vertices out, {} work items; {} dispatches for all instances",
        cost.vertices, cost.palette_bytes, cost.output_bytes, cost.items, cost.dispatches,
    ));
    let count = findings.len();
    out.push(format!("  {count} {}", if count == 1 { "finding" } else { "findings" }));
    for same in findings.chunk_by(|a, b| a.code == b.code) {
        out.extend(same.iter().map(|finding| format!("    {finding}")));
        out.extend(
            same.first().filter(|finding| !finding.fix.is_empty()).map(|f| format!("      fix: {}", f.fix)),
        );
    }
    out.join("\n") + "\n"
}

fn quoted(name: &str) -> String {
    if name.is_empty() { String::new() } else { format!(" {name:?}") }
}
