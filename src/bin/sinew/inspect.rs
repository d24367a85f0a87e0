//! `sinew inspect`: what a file holds and what loading found.

use std::{collections::BTreeSet, error::Error, path::Path};

use serde_json::{Value, json};
use sinew::{
    Model,
    animate::{CompressError, CompressOptions, CompressedClip, CompressedClips},
    model::{Clip, Interpolation, Mesh, Primitive, Skin, Topology},
};

use crate::{load, ui::Ui};

/// The report of one file.
pub(crate) fn run(path: &Path, as_json: bool, ui: &Ui) -> Result<String, Box<dyn Error>> {
    let model = load::read(path, ui)?;
    Ok(if as_json { format!("{:#}", report(path, &model)) } else { text(path, &model).trim_end().into() })
}

/// The report as data; the text below says the same.
fn report(path: &Path, model: &Model) -> Value {
    let parts = model.parts().iter().map(
        |part| json!({ "node": part.node, "mesh": part.mesh, "skin": part.skin, "weights": part.weights }),
    );
    let diagnostics = model.diagnostics().iter().map(|d| {
        json!({
            "severity": format!("{:?}", d.severity).to_lowercase(),
            "code": d.code,
            "place": d.place,
            "message": d.message,
            "spec": d.spec,
        })
    });
    let compressed = compress(model);
    let image = |image: &sinew::model::Image| json!({ "name": image.name, "mimeType": image.mime_type, "bytes": image.bytes.len() });
    json!({
        "file": path.display().to_string(),
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
        "diagnostics": diagnostics.collect::<Vec<_>>(),
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

fn text(path: &Path, model: &Model) -> String {
    let mut out = vec![path.display().to_string()];
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
    out.push(format!("  {} diagnostics", model.diagnostics().len()));
    out.extend(model.diagnostics().iter().map(|d| format!("    {d}")));
    out.join("\n") + "\n"
}

fn quoted(name: &str) -> String {
    if name.is_empty() { String::new() } else { format!(" {name:?}") }
}
