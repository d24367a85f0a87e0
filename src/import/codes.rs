//! Every diagnostic that import can give, in one table.

use std::collections::HashMap;

use super::ImportError;
use crate::model::{Code, Diagnostic, Severity, codes};

codes! {
    GLB_TRAILING "glb-trailing-bytes" Repaired "4.4" "Bytes after the length that the GLB header gives." "Export again."
    EXTENSION_IGNORED "extension-ignored" Warning "3.12" "A used, not required extension is not supported." "Export without it, or accept that it is not shown."
    EXTENSION_REQUIRED_IGNORED "extension-required-ignored" Warning "3.12" "A required extension that changes only the look is not supported; an error in strict mode." "Export without it, or accept that it is not shown."
    DATA_URI_TYPE "data-uri-type" Repaired "3.6.1.1" "A buffer's data URI has an odd media type." "Use application/octet-stream."
    ATTRIBUTE_IGNORED "attribute-ignored" Warning "3.7.2.1" "A vertex or target attribute is not known, or its set number leaves a gap." "Remove it, or number sets without gaps."
    ATTRIBUTE_NOT_FINITE "attribute-not-finite" Repaired "3.6.2" "NaN or infinity in normals, tangents, uvs or colours became 0." "Find what makes it in the modelling program; `sinew fix` writes the repair."
    QUANTIZATION_UNDECLARED "quantization-undeclared" Repaired "3.7.2.1" "Integer attributes without KHR_mesh_quantization." "List KHR_mesh_quantization as required; `sinew fix` writes floats."
    NODE_ROTATION_ZERO "node-rotation-zero" Repaired "5.25" "A zero quaternion became the identity." "Write the identity, [0, 0, 0, 1]; `sinew fix` does."
    NODE_ROTATION_NORMALIZED "node-rotation-normalized" Repaired "5.25" "A rotation was not of unit length." "`sinew fix` writes unit quaternions."
    NODE_MATRIX_SHEARED "node-matrix-sheared" Repaired "3.5.3" "A matrix is no translation, rotation and scale; the nearest is used." "Apply the shear to the mesh."
    INVERSE_BINDS_MISSING "inverse-binds-missing" Info "5.28" "A skin without inverse bind matrices: all are the identity." ""
    INVERSE_BINDS_EXTRA "inverse-binds-extra" Info "5.28" "More inverse bind matrices than joints; the rest is not used." "`sinew fix` writes as many as there are joints."
    INVERSE_BIND_SINGULAR "inverse-bind-singular" Warning "3.7.3.1" "An inverse bind matrix cannot be inverted; kept, since skinning never inverts it." "Bind the joint at a scale other than zero."
    JOINT_TWICE "joint-twice" Repaired "5.28" "A skin lists a node twice; each place keeps its own inverse bind." "`sinew fix` merges those that are the same."
    SKINS_MERGED "skins-merged" Info "" "Skins with the same joints and matrices share one palette." ""
    SKIN_WITHOUT_MESH "skin-without-mesh" Repaired "5.25" "A node has a skin but no mesh; the skin is ignored there." "Remove the skin from the node."
    SKIN_IGNORED "skin-ignored" Repaired "3.7.3.3" "A skinned node's mesh has no joints and weights; drawn without the skin." "Bind the mesh to the skin, or remove the skin from the node."
    INFLUENCES_CUT "influences-cut" Warning "3.7.3.3" "Vertices had more influences than `ImportOptions::most_influences`; the strongest were kept and scaled up." "Raise the limit, or reduce influences in the modelling program."
    INFLUENCES_UNUSED "influences-unused" Info "3.7.3.3" "A mesh with joints and weights at a node without a skin; drawn rigidly." "Give the node the skin, or remove joints and weights."
    JOINTS_OUTSIDE_SCENE "joints-outside-scene" Warning "3.7.3.2" "Joints of a drawn skin are not in the scene; they animate all the same." "Add the root of the joints to the scene."
    JOINTS_UNUSED_OUT_OF_RANGE "joints-unused-out-of-range" Repaired "3.7.3.3" "Joint values past the skin, with weight 0, were dropped." "`sinew fix` writes joint 0 where a weight is 0."
    JOINTS_MERGED "joints-merged" Repaired "3.7.3.3" "One joint twice in a vertex; its weights were added." "`sinew fix` writes each joint once."
    WEIGHTS_NOT_FINITE "weights-not-finite" Repaired "3.6.2" "NaN, infinite or negative weights became 0." "Find what makes them in the modelling program; `sinew fix` writes the repair."
    WEIGHTS_ZERO "weights-zero" Repaired "3.7.3.3" "Vertices without any weight follow their first joint." "Bind these vertices to a joint."
    WEIGHTS_NORMALIZED "weights-normalized" Repaired "3.7.3.3" "Weights did not sum to one." "`sinew fix` writes weights that sum up to one."
    WEIGHTS_NOT_NORMALIZED_TYPE "weights-integer" Repaired "3.7.3.3" "Integer weights without `normalized`; read as normalised." "Set `normalized` on the accessor; `sinew fix` writes floats."
    PRIMITIVE_SKIPPED "primitive-skipped" Warning "3.7.2.1" "A primitive without POSITION." "Give it POSITION, or remove it."
    MESH_EMPTY "mesh-empty" Repaired "5.23" "A mesh without primitives." "Remove it."
    INDICES_INCOMPLETE "indices-incomplete" Repaired "3.7.2.1" "The last line or triangle lacks indices and was dropped." "`sinew fix` writes whole triangles."
    TANGENTS_COMPUTED "tangents-computed" Info "3.7.2.1" "A normal texture without tangents; they were computed by MikkTSpace." "`sinew fix` writes them."
    TANGENTS_MISSING "tangents-missing" Warning "3.7.2.1" "A normal texture without tangents, which cannot be computed; drawn without it." "Export tangents, or give the primitive uvs."
    TARGET_ATTRIBUTE_IGNORED "target-attribute-ignored" Repaired "3.7.2.2" "A target moves an attribute that the primitive lacks." "Give the primitive the attribute, or remove it from the target."
    MORPH_WEIGHT_COUNT "morph-weight-count" Repaired "3.7.2.2" "Morph weights were cut, or filled up with 0, to the number of targets." "`sinew fix` writes one weight per target."
    CHANNEL_WITHOUT_NODE "channel-without-node" Warning "3.11" "A channel without a node was dropped." "Remove it."
    CHANNEL_POINTER_IGNORED "channel-pointer-ignored" Warning "3.11" "A channel of KHR_animation_pointer that drives no node was dropped." "Animate nodes and morph weights, or accept that the rest stands still."
    CHANNEL_PATH_UNKNOWN "channel-path-unknown" Warning "3.11" "A channel with an unknown path was dropped." "Remove it."
    CHANNEL_DUPLICATE "channel-duplicate" Repaired "3.11" "Two channels drive one property; the first wins." "Keep one of them."
    CHANNEL_WITHOUT_TARGETS "channel-without-targets" Repaired "3.11" "A weights channel at a node without morph targets was dropped." "Remove it."
    CLIP_EMPTY "clip-empty" Repaired "5.2" "An animation without channels." "Remove it."
    KEY_ROTATION_ZERO "key-rotation-zero" Repaired "3.11" "A zero quaternion among the keys became the identity." "`sinew fix` writes the identity."
    SPLINE_SINGLE_KEY "spline-single-key" Repaired "3.11" "A cubic spline with one key is constant." "Give it a second key, or make it linear."
    IMAGE_UNREADABLE "image-unreadable" Warning "3.8.3" "An image is missing, cannot be read or is neither PNG nor JPEG; left empty. The message names the format." "Store PNG or JPEG, inside the file or in its folder."
    DIAGNOSTICS_CUT "diagnostics-cut" Info "" "Too many findings of one kind; the rest is only counted." ""
}

/// Findings of one kind that are listed one by one.
const LISTED: usize = 100;

/// Collects findings; in strict mode a repair becomes an error at once.
pub(super) struct Report {
    strict: bool,
    list: Vec<Diagnostic>,
    counts: HashMap<&'static str, usize>,
}

impl Report {
    pub(super) fn new(strict: bool) -> Self {
        Self { strict, list: Vec::new(), counts: HashMap::new() }
    }

    /// Whether what would be repaired is refused.
    pub(super) fn is_strict(&self) -> bool {
        self.strict
    }

    pub(super) fn add(
        &mut self,
        code: Code,
        place: impl Into<String>,
        message: impl Into<String>,
    ) -> Result<(), ImportError> {
        self.add_with(code, place, message, [])
    }

    /// With the figures of the message.
    pub(super) fn add_with<const N: usize>(
        &mut self,
        code: Code,
        place: impl Into<String>,
        message: impl Into<String>,
        numbers: [(&'static str, f64); N],
    ) -> Result<(), ImportError> {
        let count = self.counts.entry(code.name).or_default();
        *count += 1;
        if *count > LISTED {
            return Ok(());
        }
        let diagnostic = code.at(place, message).with(numbers);
        if self.strict && code.severity == Severity::Repaired {
            return Err(ImportError::Strict { diagnostic: Box::new(diagnostic) });
        }
        self.list.push(diagnostic);
        Ok(())
    }

    pub(super) fn finish(mut self) -> Vec<Diagnostic> {
        let mut cut: Vec<_> = self.counts.into_iter().filter(|(_, count)| *count > LISTED).collect();
        cut.sort_unstable();
        for (name, count) in cut {
            let cut = (count - LISTED) as f64;
            let finding = DIAGNOSTICS_CUT.at("", format!("{} more of {name}", count - LISTED));
            self.list.push(finding.with([("findings", cut)]));
        }
        self.list
    }
}
