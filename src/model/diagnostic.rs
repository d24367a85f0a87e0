use std::fmt;

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Worth knowing, nothing is wrong.
    Info,
    /// Something was ignored.
    Warning,
    /// The file breaks its specification and was repaired.
    Repaired,
}

/// Something that loading ignored or repaired. A model comes with all of them; nothing is repaired silently.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// How much it matters.
    pub severity: Severity,
    /// Stable code, for filters and tests, such as `weights-normalized`.
    pub code: &'static str,
    /// Path in the document, such as `meshes[0].primitives[1].attributes.WEIGHTS_0`.
    pub place: String,
    /// What was found and what was done.
    pub message: String,
    /// Section of the glTF 2.0 specification, such as `3.7.3.3`; empty where none applies.
    pub spec: &'static str,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Info => "info",
            Severity::Warning => "warning",
            Severity::Repaired => "repaired",
        };
        write!(f, "{severity}[{}] {}: {}", self.code, self.place, self.message)?;
        if self.spec.is_empty() { Ok(()) } else { write!(f, " (glTF 2.0, {})", self.spec) }
    }
}
