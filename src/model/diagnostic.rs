use std::fmt;

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Worth knowing, nothing is wrong.
    Info,
    /// Something was ignored, or does not work everywhere.
    Warning,
    /// The file breaks its specification and was repaired.
    Repaired,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Severity::Info => "info",
            Severity::Warning => "warning",
            Severity::Repaired => "repaired",
        })
    }
}

/// A kind of finding: its stable name, how much it matters, where the rule stands and what helps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code {
    /// Stable, for filters and tests.
    pub name: &'static str,
    /// Repairs are errors in strict mode; the rest never is.
    pub severity: Severity,
    /// Section of the glTF 2.0 specification; empty where none applies.
    pub spec: &'static str,
    /// What it says, in one sentence.
    pub about: &'static str,
    /// What to do about it; empty where nothing needs to be done.
    pub fix: &'static str,
}

impl Code {
    /// A finding of this kind.
    #[must_use]
    pub fn at(self, place: impl Into<String>, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            severity: self.severity,
            code: self.name,
            place: place.into(),
            message: message.into(),
            numbers: Vec::new(),
            spec: self.spec,
            fix: self.fix,
        }
    }
}

/// A table of codes: a constant of each, and all of them. Name, severity, section, about, fix.
macro_rules! codes {
    ($($constant:ident $name:literal $severity:ident $spec:literal $about:literal $fix:literal)*) => {
        $(#[doc = $about] pub const $constant: $crate::model::Code = $crate::model::Code {
            name: $name,
            severity: $crate::model::Severity::$severity,
            spec: $spec,
            about: $about,
            fix: $fix,
        };)*
        /// All of them.
        pub const ALL: &[$crate::model::Code] = &[$($constant),*];
    };
}

pub(crate) use codes;

/// Something that loading ignored or repaired, or that was found odd about a model. A model comes with all that loading
/// did; nothing is repaired silently.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnostic {
    /// How much it matters.
    pub severity: Severity,
    /// Stable code, for filters and tests, such as `weights-normalized`.
    pub code: &'static str,
    /// Path in the document, such as `meshes[0].primitives[1].attributes.WEIGHTS_0`.
    pub place: String,
    /// What was found and what was done.
    pub message: String,
    /// The figures of the message by name, such as `("vertices", 210.0)`. Lengths are in metres.
    pub numbers: Vec<(&'static str, f64)>,
    /// Section of the glTF 2.0 specification, such as `3.7.3.3`; empty where none applies.
    pub spec: &'static str,
    /// What to do about it; empty where nothing needs to be done.
    pub fix: &'static str,
}

impl Diagnostic {
    /// With figures.
    #[must_use]
    pub fn with(mut self, numbers: impl IntoIterator<Item = (&'static str, f64)>) -> Self {
        self.numbers.extend(numbers);
        self
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{}] {}: {}", self.severity, self.code, self.place, self.message)?;
        if self.spec.is_empty() { Ok(()) } else { write!(f, " (glTF 2.0, {})", self.spec) }
    }
}
