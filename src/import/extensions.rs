//! Which extensions are read, which a file may be shown without, and which it may not.

use serde_json::Value;

use super::{
    ImportError,
    codes::{self, Report},
    meshopt,
    prune::Object,
};

/// What this library does with an extension that a file requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Support {
    /// It is read.
    Read,
    /// It changes the look or adds what is not shown here. Vertices, skins, node transforms and the channels
    /// that drive them are right without it: the file loads with a warning, and is refused in strict mode.
    Look,
    /// As `Look`, but what is lost is said at each texture that has no other image; otherwise nothing is.
    Image,
    /// The file would be shown wrongly. The help says what to do.
    Refused(&'static str),
}

use Support::{Image, Look, Read, Refused};

const DECODE: &str =
    "decode it first: `gltf-transform copy in.glb out.glb` writes the file without compression";
const MESHOPT: &str =
    "build with the cargo feature `meshopt`, or decode it first: `gltf-transform copy in.glb out.glb`";
const UNKNOWN: &str = "export without the extension, or decode it with a converter first";
const STRICT: &str = "load without `strict` to show the file without it";

/// Every extension that this library knows. What is not listed changes the file in unknown ways and is refused
/// when required.
const EXTENSIONS: &[(&str, Support)] = &[
    ("KHR_mesh_quantization", Read),
    ("KHR_materials_unlit", Read),
    ("KHR_materials_emissive_strength", Read),
    ("KHR_texture_transform", Read),
    (meshopt::EXT, if meshopt::AVAILABLE { Read } else { Refused(MESHOPT) }),
    (meshopt::KHR, if meshopt::AVAILABLE { Read } else { Refused(MESHOPT) }),
    // Surfaces: the metallic-roughness material beside them is shown.
    ("KHR_materials_anisotropy", Look),
    ("KHR_materials_clearcoat", Look),
    ("KHR_materials_diffuse_transmission", Look),
    ("KHR_materials_dispersion", Look),
    ("KHR_materials_ior", Look),
    ("KHR_materials_iridescence", Look),
    ("KHR_materials_pbrSpecularGlossiness", Look),
    ("KHR_materials_sheen", Look),
    ("KHR_materials_specular", Look),
    ("KHR_materials_transmission", Look),
    ("KHR_materials_variants", Look),
    ("KHR_materials_volume", Look),
    ("KHR_materials_volume_scatter", Look),
    ("MSFT_packing_normalRoughnessMetallic", Look),
    ("MSFT_packing_occlusionRoughnessMetallic", Look),
    ("VRMC_materials_hdr_emissiveMultiplier", Look),
    ("VRMC_materials_mtoon", Look),
    // Images.
    ("KHR_texture_basisu", Image),
    ("EXT_texture_avif", Image),
    ("EXT_texture_webp", Image),
    ("MSFT_texture_dds", Image),
    // Lights: the caller's are used.
    ("EXT_lights_ies", Look),
    ("EXT_lights_image_based", Look),
    ("KHR_lights_punctual", Look),
    // Behaviour: channels of nodes are played, the rest stands still.
    ("KHR_animation_pointer", Look),
    ("KHR_audio_emitter", Look),
    ("KHR_interactivity", Look),
    ("KHR_node_hoverability", Look),
    ("KHR_node_selectability", Look),
    ("KHR_node_visibility", Look),
    // Words about the file.
    ("KHR_xmp", Look),
    ("KHR_xmp_json_ld", Look),
    ("VRMC_vrm", Look),
    // Geometry and transforms.
    ("KHR_draco_mesh_compression", Refused(DECODE)),
    ("EXT_mesh_gpu_instancing", Refused("export every instance as a node of its own")),
];

fn support(name: &str) -> Support {
    EXTENSIONS.iter().find(|(known, _)| *known == name).map_or(Refused(UNKNOWN), |(_, support)| *support)
}

/// What the user can do about a required extension.
pub(super) fn help(name: &str) -> &'static str {
    match support(name) {
        Refused(help) => help,
        Look | Image | Read => STRICT,
    }
}

/// Refuses what the file must not be shown without, and lists what is ignored.
pub(super) fn check(root: &Object, report: &mut Report) -> Result<(), ImportError> {
    let used = names(root, "extensionsUsed")?;
    let required = names(root, "extensionsRequired")?;
    for (i, name) in required.iter().enumerate() {
        let support = support(name);
        let lost = matches!(support, Look | Image);
        if matches!(support, Refused(_)) || lost && report.is_strict() {
            return Err(ImportError::Extension { name: (*name).into() });
        }
        if !used.contains(name) {
            return Err(ImportError::ExtensionNotUsed { name: (*name).into() });
        }
        if lost {
            let message = format!("{name} is required, but not supported; shown without it");
            report.add(codes::EXTENSION_REQUIRED_IGNORED, format!("extensionsRequired[{i}]"), message)?;
        }
    }
    for (i, name) in used.iter().enumerate() {
        if !matches!(support(name), Read | Image) && !required.contains(name) {
            let message = format!("{name} is not supported");
            report.add(codes::EXTENSION_IGNORED, format!("extensionsUsed[{i}]"), message)?;
        }
    }
    draco_has_fallback(root)
}

/// The names in one of the two lists; none where it is absent.
pub(super) fn names<'a>(root: &'a Object, key: &str) -> Result<Vec<&'a str>, ImportError> {
    let Some(list) = root.get(key) else { return Ok(Vec::new()) };
    let strings = list.as_array().and_then(|list| list.iter().map(Value::as_str).collect());
    strings.ok_or_else(|| ImportError::schema(key, "must be a list of strings"))
}

/// Files forget to require Draco. Accessors without data would then be read as zeros: a mesh without extent.
fn draco_has_fallback(root: &Object) -> Result<(), ImportError> {
    const NAME: &str = "KHR_draco_mesh_compression";
    let list = |key: &str| root.get(key).and_then(Value::as_array).into_iter().flatten();
    let primitives = list("meshes").filter_map(|mesh| mesh.get("primitives")?.as_array()).flatten();
    for primitive in primitives.filter(|p| p.get("extensions").is_some_and(|e| e.get(NAME).is_some())) {
        let positions = primitive.get("attributes").and_then(|a| a.get("POSITION")).and_then(Value::as_u64);
        let accessors = root.get("accessors").and_then(Value::as_array);
        let accessor = accessors.zip(positions).and_then(|(list, index)| list.get(index as usize));
        if accessor.is_some_and(|a| a.get("bufferView").is_none() && a.get("sparse").is_none()) {
            return Err(ImportError::Extension { name: NAME.into() });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_extension_is_listed_once() {
        for (i, (name, _)) in EXTENSIONS.iter().enumerate() {
            assert!(EXTENSIONS[..i].iter().all(|(other, _)| other != name), "{name}");
        }
    }
}
