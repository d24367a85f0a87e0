use std::{
    borrow::Cow,
    sync::atomic::{AtomicU32, Ordering},
};

/// The name of a pass or resource, as messages and tools show it.
pub(crate) type Label = Cow<'static, str>;

/// Tells the handles of one graph from those of another. It numbers graphs and nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct GraphId(u32);

impl GraphId {
    pub(crate) fn next() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

macro_rules! handle {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub struct $name {
            pub(crate) graph: GraphId,
            pub(crate) index: u32,
        }
    };
}

handle! {
    /// One value of a buffer: what a single writer leaves in it.
    ///
    /// A value has exactly one writer. [`Declare::modify`](crate::Declare::modify) changes the bytes in
    /// place and returns the next value, so a reader says which of the two it means.
    Buffer
}

handle! {
    /// Buffers that lie back to back, bound as one range by their writer and one by one by their readers.
    Pack
}

handle! {
    /// A texture of the frame, or a target whose view the caller binds every frame.
    ///
    /// Passes that draw into one texture run in the order of their declaration. A reader sees it after the
    /// last of them that was declared before the reader, or after the first one if none was.
    Texture
}

handle! {
    /// A declared pass, to switch it off and on.
    Pass
}

/// Two resources that change places after every run that filled the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct History<T> {
    /// Filled by a pass of this frame.
    pub current: T,
    /// What the newest run that filled it left.
    pub previous: T,
}

/// A bind group that a pass declared. Built with the plan, once more for the other side of a history, and again
/// when an import or target that it holds is replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Group {
    pub(crate) graph: GraphId,
    pub(crate) pass: u32,
    pub(crate) index: u32,
}
