//! How far a load has come.

use std::fmt;

macro_rules! stages {
    ($($stage:ident $name:literal $about:literal)*) => {
        /// The stages of a load, in their order. Each trusts what those before it checked.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Stage {
            $(#[doc = $about] $stage,)*
        }

        impl Stage {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$stage),*];
        }

        impl fmt::Display for Stage {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(match self { $(Self::$stage => $name,)* })
            }
        }
    };
}

stages! {
    Container "container" "The parts of a GLB, depth and size of the JSON."
    Json "json" "The JSON itself, version and extensions."
    Schema "schema" "Types of properties; every index against its list."
    Nodes "nodes" "The hierarchy and its rest pose."
    Buffers "buffers" "External files, data URIs, compressed views."
    Images "images" "Encoded images and samplers."
    Skins "skins" "The first accessors: inverse bind matrices."
    Meshes "meshes" "Vertices, indices, influences, morph targets."
    Parts "parts" "Meshes and skins at nodes."
    Clips "clips" "Keys and their times."
    Materials "materials" "Materials."
    Model "model" "Whether all of it fits together."
}

/// What a load is about to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// The stage it is in.
    pub stage: Stage,
    /// Elements of the stage that are done.
    pub done: usize,
    /// Elements the stage has; 1 where they are not counted.
    pub of: usize,
}

/// Tells the caller of a load, if it asked.
#[derive(Clone, Copy)]
pub(super) struct Steps<'a>(pub(super) Option<&'a dyn Fn(Progress)>);

impl Steps<'_> {
    pub(super) fn begin(self, stage: Stage) {
        self.counted(stage, 0, 1);
    }

    pub(super) fn counted(self, stage: Stage, done: usize, of: usize) {
        if let Some(tell) = self.0 {
            tell(Progress { stage, done, of });
        }
    }
}
