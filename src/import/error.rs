use std::{io, path::PathBuf};

use super::{extensions, meshopt};
use crate::model::{ClipError, Diagnostic, MeshError, ModelError, SkeletonError, SkinError};

/// Why a file was not loaded. Every message names the place in the document and the numbers;
/// [`ImportError::help`] says what to do about it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// The operating system would not give the file.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// More than [`Limits`](super::Limits) allow.
    #[error("{place}: {found} {what}, but the limit is {limit}")]
    Limit {
        /// Where.
        place: String,
        /// What is counted.
        what: &'static str,
        /// How many.
        found: u64,
        /// How many are allowed.
        limit: u64,
    },
    /// Neither GLB nor JSON, or a damaged GLB.
    #[error("not a glTF file: {problem}")]
    Container {
        /// What is wrong.
        problem: String,
    },
    /// The JSON does not parse.
    #[error("the JSON does not parse: {problem}")]
    Json {
        /// What is wrong, with line and column.
        problem: String,
    },
    /// Another glTF than 2.
    #[error("{place} is {found:?}; this library reads glTF 2.0")]
    Version {
        /// `asset.version` or `asset.minVersion`.
        place: &'static str,
        /// Its value.
        found: String,
    },
    /// The file must not be shown without this extension.
    #[error("extensionsRequired: {name} is required, but not supported{}", hint(.name))]
    Extension {
        /// The extension.
        name: String,
    },
    /// Required extensions must be listed as used.
    #[error("extensionsRequired: {name} is missing from extensionsUsed")]
    ExtensionNotUsed {
        /// The extension.
        name: String,
    },
    /// A property is missing, or has the wrong type or value.
    #[error("{place}: {problem}")]
    Schema {
        /// Where.
        place: String,
        /// What is wrong.
        problem: String,
    },
    /// An index points past its list.
    #[error("{place} refers to {kind} {index}, but there are {count}")]
    Reference {
        /// Who refers.
        place: String,
        /// To what.
        kind: &'static str,
        /// Which.
        index: usize,
        /// How many exist.
        count: usize,
    },
    /// A URI that is not read.
    #[error("{place}: {uri:?} {problem}")]
    Uri {
        /// Who names it.
        place: String,
        /// The URI, shortened.
        uri: String,
        /// Why not.
        problem: String,
    },
    /// Data does not fit in what holds it.
    #[error("{place} needs {needed} bytes of {holder}, which has {available}")]
    Range {
        /// Who needs.
        place: String,
        /// Bytes up to its end; `u64::MAX` where the sum itself overflows.
        needed: u64,
        /// What holds the data.
        holder: String,
        /// Bytes there.
        available: u64,
    },
    /// An accessor has a type that its use does not allow.
    #[error("{place}: accessor {accessor} is {found}; {allowed} is needed")]
    Format {
        /// The use.
        place: String,
        /// Which accessor.
        accessor: usize,
        /// Its type, such as `VEC2 of float`.
        found: String,
        /// What the use allows.
        allowed: &'static str,
    },
    /// Two numbers must match.
    #[error("{place} has {found} {what}, but {expected} are needed")]
    Count {
        /// Where.
        place: String,
        /// What is counted.
        what: &'static str,
        /// How many there are.
        found: u64,
        /// How many there must be.
        expected: u64,
    },
    /// A number that must be finite, rising or in range.
    #[error("{place}: {problem}")]
    Value {
        /// Where.
        place: String,
        /// Which number and what is wrong.
        problem: String,
    },
    /// Compressed data is damaged.
    #[error("{place}: the compressed data is damaged (decoder code {code})")]
    Compressed {
        /// Which view.
        place: String,
        /// The decoder's error.
        code: i32,
    },
    /// The nodes are not a forest.
    #[error("nodes: {source}")]
    Skeleton {
        /// What is wrong.
        #[from]
        source: SkeletonError,
    },
    /// A node has two parents.
    #[error("nodes[{node}] is a child of nodes[{first}] and of nodes[{second}]")]
    TwoParents {
        /// The child.
        node: usize,
        /// One parent.
        first: usize,
        /// Another.
        second: usize,
    },
    /// Joints and inverse bind matrices do not make a skin.
    #[error("{place}: {source}")]
    Skin {
        /// `skins[0].joints` or `skins[0].inverseBindMatrices`.
        place: String,
        /// What is wrong.
        source: SkinError,
    },
    /// Primitives do not make a mesh.
    #[error("{place}: {source}")]
    Mesh {
        /// `meshes[0]`.
        place: String,
        /// What is wrong.
        source: MeshError,
    },
    /// Tracks do not make a clip.
    #[error("{place}: {source}")]
    Clip {
        /// `animations[0]`.
        place: String,
        /// What is wrong.
        source: ClipError,
    },
    /// The parts do not fit together.
    #[error(transparent)]
    Model {
        /// What is wrong.
        #[from]
        source: ModelError,
    },
    /// Something would have been repaired, but [`strict`](super::ImportOptions::strict) was asked for.
    #[error("{diagnostic}")]
    Strict {
        /// The repair that was refused.
        diagnostic: Box<Diagnostic>,
    },
}

fn hint(name: &str) -> &'static str {
    match name {
        meshopt::EXT | meshopt::KHR if !meshopt::AVAILABLE => " without the cargo feature `meshopt`",
        _ => "",
    }
}

impl ImportError {
    /// What the user can do, in one line.
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self {
            Self::Read { .. } => "check that the file exists, is a regular file and may be read",
            Self::Limit { .. } => "raise the limit in `ImportOptions::limits` if the file is trusted",
            Self::Container { .. } => "the file is damaged or no glTF: download or export it again",
            Self::Json { .. } => "the file is damaged or was edited by hand: export it again",
            Self::Version { .. } => "convert the file to glTF 2.0",
            Self::Extension { name } => extensions::help(name),
            Self::ExtensionNotUsed { .. } => "list the extension in extensionsUsed as well",
            Self::Uri { .. } => {
                "files must lie in the model's own folder or below and be named by a plain relative path"
            }
            Self::Range { .. } | Self::Compressed { .. } => "the file is truncated or its exporter is faulty",
            Self::Strict { .. } => "load without `strict` to repair it",
            Self::TwoParents { .. } | Self::Skeleton { .. } => {
                "nodes must form a forest with finite transforms: repair the hierarchy in the exporting program"
            }
            _ => "the file breaks the glTF 2.0 specification: run the Khronos validator and export it again",
        }
    }

    pub(super) fn schema(place: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::Schema { place: place.into(), problem: problem.into() }
    }

    pub(super) fn value(place: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::Value { place: place.into(), problem: problem.into() }
    }
}
