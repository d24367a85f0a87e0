//! Every diagnostic that import can give, in one table.

use std::collections::HashMap;

use super::ImportError;
use crate::model::{Diagnostic, Severity};

/// A kind of finding: its stable name, how much it matters and where the rule stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code {
    /// Stable, for filters and tests.
    pub name: &'static str,
    /// Repairs are errors in strict mode; the rest is not, unless its description says so.
    pub severity: Severity,
    /// Section of the glTF 2.0 specification; empty where none applies.
    pub spec: &'static str,
}

macro_rules! codes {
    ($($constant:ident $name:literal $severity:ident $spec:literal $about:literal)*) => {
        $(#[doc = $about] pub const $constant: Code = Code { name: $name, severity: Severity::$severity, spec: $spec };)*
        /// All of them.
        pub const ALL: &[Code] = &[$($constant),*];
    };
}

codes! {
    GLB_TRAILING "glb-trailing-bytes" Repaired "4.4" "Bytes after the length that the GLB header gives."
    EXTENSION_IGNORED "extension-ignored" Warning "3.12" "A used, not required extension is not supported."
    EXTENSION_REQUIRED_IGNORED "extension-required-ignored" Warning "3.12" "A required extension that changes only the look is not supported; an error in strict mode."
    DATA_URI_TYPE "data-uri-type" Repaired "3.6.1.1" "A buffer's data URI has an odd media type."
    ATTRIBUTE_IGNORED "attribute-ignored" Warning "3.7.2.1" "A vertex or target attribute is not known, or its set number leaves a gap."
    ATTRIBUTE_NOT_FINITE "attribute-not-finite" Repaired "3.6.2" "NaN or infinity in normals, tangents, uvs or colours became 0."
    QUANTIZATION_UNDECLARED "quantization-undeclared" Repaired "3.7.2.1" "Integer attributes without KHR_mesh_quantization."
    NODE_ROTATION_ZERO "node-rotation-zero" Repaired "5.25" "A zero quaternion became the identity."
    NODE_ROTATION_NORMALIZED "node-rotation-normalized" Repaired "5.25" "A rotation was not of unit length."
    NODE_MATRIX_SHEARED "node-matrix-sheared" Repaired "3.5.3" "A matrix is no translation, rotation and scale; the nearest is used."
    INVERSE_BINDS_MISSING "inverse-binds-missing" Info "5.28" "A skin without inverse bind matrices: all are the identity."
    INVERSE_BINDS_EXTRA "inverse-binds-extra" Info "5.28" "More inverse bind matrices than joints; the rest is not used."
    INVERSE_BIND_SINGULAR "inverse-bind-singular" Warning "3.7.3.1" "An inverse bind matrix cannot be inverted; kept, since skinning never inverts it."
    SKINS_MERGED "skins-merged" Info "" "Skins with the same joints and matrices share one palette."
    SKIN_WITHOUT_MESH "skin-without-mesh" Repaired "5.25" "A node has a skin but no mesh; the skin is ignored there."
    SKIN_IGNORED "skin-ignored" Repaired "3.7.3.3" "A skinned node's mesh has no joints and weights; drawn without the skin."
    INFLUENCES_UNUSED "influences-unused" Info "3.7.3.3" "A mesh with joints and weights at a node without a skin; drawn rigidly."
    JOINTS_OUTSIDE_SCENE "joints-outside-scene" Warning "3.7.3.2" "Joints of a drawn skin are not in the scene; they animate all the same."
    JOINTS_UNUSED_OUT_OF_RANGE "joints-unused-out-of-range" Repaired "3.7.3.3" "Joint values past the skin, with weight 0, were dropped."
    JOINTS_MERGED "joints-merged" Repaired "3.7.3.3" "One joint twice in a vertex; its weights were added."
    WEIGHTS_NOT_FINITE "weights-not-finite" Repaired "3.6.2" "NaN, infinite or negative weights became 0."
    WEIGHTS_ZERO "weights-zero" Repaired "3.7.3.3" "Vertices without any weight follow their first joint."
    WEIGHTS_NORMALIZED "weights-normalized" Repaired "3.7.3.3" "Weights did not sum to one."
    WEIGHTS_NOT_NORMALIZED_TYPE "weights-integer" Repaired "3.7.3.3" "Integer weights without `normalized`; read as normalised."
    PRIMITIVE_SKIPPED "primitive-skipped" Warning "3.7.2.1" "A primitive without POSITION."
    MESH_EMPTY "mesh-empty" Repaired "5.23" "A mesh without primitives."
    INDICES_INCOMPLETE "indices-incomplete" Repaired "3.7.2.1" "The last line or triangle lacks indices and was dropped."
    TANGENTS_COMPUTED "tangents-computed" Info "3.7.2.1" "A normal texture without tangents; they were computed by MikkTSpace."
    TANGENTS_MISSING "tangents-missing" Warning "3.7.2.1" "A normal texture without tangents, which cannot be computed; drawn without it."
    TARGET_ATTRIBUTE_IGNORED "target-attribute-ignored" Repaired "3.7.2.2" "A target moves an attribute that the primitive lacks."
    MORPH_WEIGHT_COUNT "morph-weight-count" Repaired "3.7.2.2" "Morph weights were cut, or filled up with 0, to the number of targets."
    CHANNEL_WITHOUT_NODE "channel-without-node" Warning "3.11" "A channel without a node was dropped."
    CHANNEL_POINTER_IGNORED "channel-pointer-ignored" Warning "3.11" "A channel of KHR_animation_pointer that drives no node was dropped."
    CHANNEL_PATH_UNKNOWN "channel-path-unknown" Warning "3.11" "A channel with an unknown path was dropped."
    CHANNEL_DUPLICATE "channel-duplicate" Repaired "3.11" "Two channels drive one property; the first wins."
    CHANNEL_WITHOUT_TARGETS "channel-without-targets" Repaired "3.11" "A weights channel at a node without morph targets was dropped."
    CLIP_EMPTY "clip-empty" Repaired "5.2" "An animation without channels."
    KEY_ROTATION_ZERO "key-rotation-zero" Repaired "3.11" "A zero quaternion among the keys became the identity."
    SPLINE_SINGLE_KEY "spline-single-key" Repaired "3.11" "A cubic spline with one key is constant."
    IMAGE_UNREADABLE "image-unreadable" Warning "3.8.3" "An image is missing, cannot be read or is neither PNG nor JPEG; left empty. The message names the format."
    DIAGNOSTICS_CUT "diagnostics-cut" Info "" "Too many findings of one kind; the rest is only counted."
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
        let count = self.counts.entry(code.name).or_default();
        *count += 1;
        if *count > LISTED {
            return Ok(());
        }
        let Code { name, severity, spec } = code;
        let diagnostic =
            Diagnostic { severity, code: name, place: place.into(), message: message.into(), spec };
        if self.strict && severity == Severity::Repaired {
            return Err(ImportError::Strict { diagnostic });
        }
        self.list.push(diagnostic);
        Ok(())
    }

    pub(super) fn finish(mut self) -> Vec<Diagnostic> {
        let mut cut: Vec<_> = self.counts.into_iter().filter(|(_, count)| *count > LISTED).collect();
        cut.sort_unstable();
        for (name, count) in cut {
            self.list.push(Diagnostic {
                severity: DIAGNOSTICS_CUT.severity,
                code: DIAGNOSTICS_CUT.name,
                place: String::new(),
                message: format!("{} more of {name}", count - LISTED),
                spec: "",
            });
        }
        self.list
    }
}
