use crate::deform::DeformError;

/// Why a capture could not be made, read or replayed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CaptureError {
    /// It does not start like one.
    #[error("this is no capture: it does not start with `SINEWCAP`")]
    NoCapture,
    /// A file of another format.
    #[error("the capture has format {found}, this library reads {expected}; use the version that wrote it")]
    OtherFormat {
        /// In the file.
        found: u32,
        /// Of this library.
        expected: u32,
    },
    /// Streams and blocks of another layout.
    #[error(
        "the capture was made by sinew {library} with layout {found}, this library has {expected}; replay it with a version of the same layout"
    )]
    OtherLayout {
        /// In the file.
        found: u32,
        /// Of this library.
        expected: u32,
        /// The version that wrote it.
        library: String,
    },
    /// Other kernel variants.
    #[error(
        "the capture was made by sinew {library}, whose kernel variant {index} is `{found}` instead of `{expected}`; replay it with a version of the same variants"
    )]
    OtherVariants {
        /// The first that differs.
        index: usize,
        /// In the file.
        found: String,
        /// Of this library.
        expected: String,
        /// The version that wrote it.
        library: String,
    },
    /// It ends too early.
    #[error("the capture ends at byte {end}, inside {what} that starts at byte {at}; copy the file again")]
    Truncated {
        /// What is cut.
        what: &'static str,
        /// Where it starts.
        at: usize,
        /// Length of the file.
        end: usize,
    },
    /// There is more than there should be.
    #[error("the capture has {bytes} bytes too many; copy the file again")]
    TooLong {
        /// How many.
        bytes: usize,
    },
    /// It is not what was written.
    #[error(
        "the capture is damaged: its checksum is {found:#018x} instead of {expected:#018x}; copy the file again"
    )]
    Checksum {
        /// Of the bytes that are there.
        found: u64,
        /// Written in the file.
        expected: u64,
    },
    /// A name or a number with no meaning.
    #[error("the {what} at byte {at} of the capture means nothing")]
    Meaningless {
        /// What it should be.
        what: &'static str,
        /// Where it is.
        at: usize,
    },
    /// An index that points past its list. A replay would read or write there.
    #[error("group {group} of the capture: {what} reaches {reaches}, of {there}")]
    OutOfRange {
        /// Which group.
        group: usize,
        /// What refers.
        what: &'static str,
        /// One past the last that it needs.
        reaches: u64,
        /// How many there are.
        there: u64,
    },
    /// Work items that write the same vertices.
    #[error("group {group} of the capture: two work items write the same vertices at {at}")]
    Overlap {
        /// Which group.
        group: usize,
        /// First vertex of the second, in output A.
        at: u32,
    },
    /// A capture that would take longer than any frame does.
    #[error("the capture asks for more than {most} influences and morph deltas")]
    TooMuch {
        /// The most that is replayed.
        most: u64,
    },
    /// What deforming itself refused.
    #[error(transparent)]
    Deform(#[from] DeformError),
}
