use std::{fmt, ops::Deref};

use crate::{access::PassKind, handle::Label};

/// Why a graph cannot be compiled. Each variant names the pass, the resource, the numbers and the cure.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GraphError {
    /// A pass reads a transient that no pass writes.
    #[error(
        "pass `{pass}` reads `{resource}` before any pass writes it; declare its writer, import it, or clear it"
    )]
    ReadBeforeWrite {
        /// The reading pass.
        pass: Label,
        /// What it reads.
        resource: Label,
    },
    /// Two passes write one value, or both change it in place.
    #[error("{}", TwoWriters { resource, first, second })]
    TwoWriters {
        /// What they write.
        resource: Label,
        /// The writer declared first.
        first: Label,
        /// The writer declared second.
        second: Label,
    },
    /// A pass reads and writes one buffer, pack or texture, which wgpu forbids.
    #[error(
        "pass `{pass}` both reads and writes `{resource}`; use `modify` alone, or split the pass or the resource"
    )]
    ReadAndWrite {
        /// The pass.
        pass: Label,
        /// What it reads and writes.
        resource: Label,
    },
    /// Passes wait for each other.
    #[error("passes wait for each other: {}; let one of them read an earlier value", Chain(.passes))]
    Cycle {
        /// The passes around the cycle, each waiting for the one before it.
        passes: Vec<Label>,
    },
    /// A use that passes of this kind cannot have.
    #[error("{kind} pass `{pass}` cannot use `{resource}` as `{usage}`; declare that use in {cure}")]
    WrongPassKind {
        /// The pass.
        pass: Label,
        /// Its kind.
        kind: PassKind,
        /// What it uses.
        resource: Label,
        /// The method that declared the use.
        usage: &'static str,
        /// The kinds of pass that can.
        cure: &'static str,
    },
    /// A host pass reads what only the GPU can see while the frame is recorded.
    #[error(
        "host pass `{pass}` reads `{resource}` (`{usage}`), which only the GPU sees while the frame is recorded; read it in a compute pass, or map it after the submit"
    )]
    HostReadsGpu {
        /// The host pass.
        pass: Label,
        /// What it reads.
        resource: Label,
        /// The method that declared the read.
        usage: &'static str,
    },
    /// A handle or access of another graph, or one that no graph made.
    #[error("{place} uses a {kind} of another graph, or one that does not exist; declare it in this graph")]
    ForeignHandle {
        /// Where it was used: a pass, or a method of the graph.
        place: Label,
        /// What kind of handle it is.
        kind: &'static str,
    },
    /// A value that `replace_import` cannot give another buffer.
    #[error("`replace_import` names `{resource}`, which was not imported; declare it by `import`")]
    NotImported {
        /// The value.
        resource: Label,
    },
    /// An access that another pass declared.
    #[error("pass `{pass}` binds an access that pass `{owner}` declared; declare the use in `{pass}`")]
    ForeignAccess {
        /// The pass that binds it.
        pass: Label,
        /// The pass that declared it.
        owner: Label,
    },
    /// A size over a device limit.
    #[error(
        "`{resource}` needs {size}, over the device's `{limit_name}` of {limit}; split it, or request a higher limit"
    )]
    TooLarge {
        /// The resource.
        resource: Label,
        /// Its size: bytes, or texels along a side.
        size: u64,
        /// The limit.
        limit: u64,
        /// Its name in `wgpu::Limits`.
        limit_name: &'static str,
    },
    /// Attachments of one raster pass differ in size or sample count.
    #[error(
        "raster pass `{pass}` draws into `{resource}` of {found} and into `{other}` of {expected}; attachments of one pass share size and sample count"
    )]
    AttachmentMismatch {
        /// The pass.
        pass: Label,
        /// The attachment that differs.
        resource: Label,
        /// Its size and sample count.
        found: Shape,
        /// The attachment declared first.
        other: Label,
        /// Its size and sample count.
        expected: Shape,
    },
    /// A format that cannot serve as this kind of attachment.
    #[error(
        "raster pass `{pass}` uses `{resource}` of format {format:?} as `{usage}`; choose a {cure} format"
    )]
    AttachmentFormat {
        /// The pass.
        pass: Label,
        /// The texture.
        resource: Label,
        /// Its format.
        format: wgpu::TextureFormat,
        /// The method that declared the use.
        usage: &'static str,
        /// The kind of format it takes.
        cure: &'static str,
    },
    /// An imported buffer was created without a usage that a pass needs.
    #[error(
        "pass `{pass}` uses imported `{resource}` as `{usage}`, which needs {needs:?}, but it was created with {has:?}; create it with both"
    )]
    MissingUsage {
        /// The pass.
        pass: Label,
        /// The imported buffer.
        resource: Label,
        /// The method that declared the use.
        usage: &'static str,
        /// What the use needs.
        needs: wgpu::BufferUsages,
        /// What the buffer has.
        has: wgpu::BufferUsages,
    },
    /// An exported value that no enabled pass writes.
    #[error("exported `{resource}` is written by no enabled pass; declare its writer or drop the export")]
    ExportWithoutWriter {
        /// The exported value.
        resource: Label,
    },
    /// An exported value that a later pass changes in place.
    #[error("exported `{resource}` is changed in place by `{pass}`; export the value that `modify` returned")]
    ExportOverwritten {
        /// The exported value.
        resource: Label,
        /// The pass that changes it.
        pass: Label,
    },
    /// An exported import that cannot be used as it is exported for.
    #[error(
        "exported `{resource}` is an imported buffer that needs {needs:?}, but it was created with {has:?}; create it with both"
    )]
    ExportUsage {
        /// The exported value.
        resource: Label,
        /// What it is exported for.
        needs: wgpu::BufferUsages,
        /// What the buffer has.
        has: wgpu::BufferUsages,
    },
    /// An exported value for a use that an arena cannot have.
    #[error(
        "`{resource}` cannot be exported for {usage:?}: its buffer is shared; copy it into one of your own behind the run"
    )]
    ExportForMapping {
        /// The exported value.
        resource: Label,
        /// What it is exported for.
        usage: wgpu::BufferUsages,
    },
    /// An imported buffer that is empty, or whose size bindings and copies cannot have.
    #[error(
        "pass `{pass}` uses imported `{resource}` of {size} bytes as `{usage}`; create it with a multiple of 4 bytes, at least 4"
    )]
    ImportSize {
        /// The pass.
        pass: Label,
        /// The imported buffer.
        resource: Label,
        /// The method that declared the use.
        usage: &'static str,
        /// Bytes of the buffer.
        size: u64,
    },
    /// A buffer that two imports stand for.
    #[error(
        "`replace_import` gives `{resource}` the buffer that `{other}` stands for; use `{other}` in its place"
    )]
    ImportedTwice {
        /// The import that was to be replaced.
        resource: Label,
        /// The import that has the buffer.
        other: Label,
    },
    /// A raster pass that draws into nothing.
    #[error("raster pass `{pass}` draws into nothing; declare a colour or depth attachment")]
    NoAttachment {
        /// The pass.
        pass: Label,
    },
    /// More colour attachments than the device has.
    #[error(
        "raster pass `{pass}` has {count} colour attachments, over the device's `max_color_attachments` of {limit}"
    )]
    TooManyAttachments {
        /// The pass.
        pass: Label,
        /// How many it has.
        count: u32,
        /// The limit.
        limit: u32,
    },
    /// A resolve between textures that do not fit together.
    #[error(
        "raster pass `{pass}` resolves `{resource}` into `{into}`; the first needs several samples, and both one format"
    )]
    Resolve {
        /// The pass.
        pass: Label,
        /// The multisampled texture.
        resource: Label,
        /// What it is resolved into.
        into: Label,
    },
    /// A depth outside 0 to 1.
    #[error("raster pass `{pass}` clears depth to {clear}; depth lies from 0 to 1")]
    DepthClear {
        /// The pass.
        pass: Label,
        /// The depth.
        clear: String,
    },
    /// A sample count that no texture, or no storage texture, has.
    #[error("texture `{resource}` has {samples} samples; use 1, 2, 4, 8 or 16, and 1 for a storage texture")]
    Samples {
        /// The texture.
        resource: Label,
        /// Its samples.
        samples: u32,
        /// Whether a shader writes or reads it as storage.
        is_storage: bool,
    },
    /// A pass reads what a disabled pass would have written.
    #[error(
        "pass `{pass}` reads `{resource}`, whose writer `{writer}` is disabled; disable `{pass}` as well, or enable `{writer}`"
    )]
    WriterDisabled {
        /// The reading pass.
        pass: Label,
        /// What it reads.
        resource: Label,
        /// The disabled pass.
        writer: Label,
    },
    /// No enabled pass leaves anything that the caller can see.
    #[error(
        "nothing is observable: draw into a target, write an imported buffer, export a value, or `keep` a pass"
    )]
    NothingObservable,
}

impl GraphError {
    /// Stable code, for tests, logs and documentation.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::ReadBeforeWrite { .. } => "G001",
            Self::TwoWriters { .. } => "G002",
            Self::ReadAndWrite { .. } => "G003",
            Self::Cycle { .. } => "G004",
            Self::WrongPassKind { .. } => "G005",
            Self::HostReadsGpu { .. } => "G006",
            Self::ForeignHandle { .. } => "G007",
            Self::ForeignAccess { .. } => "G008",
            Self::TooLarge { .. } => "G009",
            Self::AttachmentMismatch { .. } => "G010",
            Self::AttachmentFormat { .. } => "G011",
            Self::MissingUsage { .. } => "G012",
            Self::ExportWithoutWriter { .. } => "G013",
            Self::ExportOverwritten { .. } => "G014",
            Self::WriterDisabled { .. } => "G015",
            Self::NothingObservable => "G016",
            Self::NotImported { .. } => "G017",
            Self::ExportUsage { .. } => "G018",
            Self::ExportForMapping { .. } => "G019",
            Self::ImportSize { .. } => "G020",
            Self::ImportedTwice { .. } => "G021",
            Self::NoAttachment { .. } => "G022",
            Self::TooManyAttachments { .. } => "G023",
            Self::Resolve { .. } => "G024",
            Self::DepthClear { .. } => "G025",
            Self::Samples { .. } => "G026",
        }
    }
}

/// Size and sample count of an attachment, as messages show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Texels across.
    pub width: u32,
    /// Texels down.
    pub height: u32,
    /// Samples per texel.
    pub samples: u32,
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{} with {} sample{}", self.width, self.height, self.samples, plural(self.samples))
    }
}

const fn plural(count: u32) -> &'static str {
    if count == 1 { "" } else { "s" }
}

struct TwoWriters<'a> {
    resource: &'a Label,
    first: &'a Label,
    second: &'a Label,
}

impl fmt::Display for TwoWriters<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { resource, first, second } = self;
        if first == second {
            return write!(f, "`{resource}` is written twice by `{first}`; declare one write of it");
        }
        write!(
            f,
            "`{resource}` is written by `{first}` and again by `{second}`; let `{second}` use `modify` on what \
             `{first}` leaves"
        )
    }
}

struct Chain<'a>(&'a [Label]);

impl fmt::Display for Chain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for pass in self.0 {
            write!(f, "`{pass}` -> ")?;
        }
        match self.0.first() {
            Some(first) => write!(f, "`{first}`"),
            None => Ok(()),
        }
    }
}

/// Everything that is wrong with a graph, in the order it was found; never empty.
#[derive(Clone, PartialEq, Eq)]
pub struct GraphErrors(pub(crate) Vec<GraphError>);

impl Deref for GraphErrors {
    type Target = [GraphError];

    fn deref(&self) -> &[GraphError] {
        &self.0
    }
}

impl fmt::Display for GraphErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (line, error) in self.0.iter().enumerate() {
            let newline = if line == 0 { "" } else { "\n" };
            write!(f, "{newline}{}: {error}", error.code())?;
        }
        Ok(())
    }
}

/// As it is displayed: what a `main` that returns it prints, and a test that unwraps it.
impl fmt::Debug for GraphErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for GraphErrors {}
