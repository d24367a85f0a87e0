use std::fmt;

/// Why the program ends without having done what it was asked to: one line, and one line of help.
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    help: Option<String>,
    code: u8,
}

impl Failure {
    /// What was asked for could not be done: exit code 1.
    pub(crate) fn new(message: impl fmt::Display) -> Self {
        Self { message: one_line(&message.to_string()), help: None, code: 1 }
    }

    /// What was asked for makes no sense: exit code 2.
    pub(crate) fn usage(message: impl fmt::Display) -> Self {
        Self { code: 2, ..Self::new(message) }
    }

    /// Adds the way out.
    pub(crate) fn help(self, help: impl fmt::Display) -> Self {
        Self { help: Some(one_line(&help.to_string())), ..self }
    }

    /// Ends the program with another exit code than 1.
    pub(crate) fn with_code(self, code: u8) -> Self {
        Self { code, ..self }
    }

    /// The program's exit code.
    pub(crate) fn code(&self) -> u8 {
        self.code
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", self.message)?;
        match &self.help {
            Some(help) => write!(f, "\nhelp: {help}"),
            None => Ok(()),
        }
    }
}

fn one_line(text: &str) -> String {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("; ")
}

/// Errors of the library need no more context than their own words.
macro_rules! from_library {
    ($($error:ty),* $(,)?) => {$(
        impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                Self::new(error)
            }
        }
    )*};
}

from_library!(
    sinew::DeformError,
    sinew::deform::CaptureError,
    sinew::deform::PosedError,
    sinew::animate::AnimateError,
    sinew::export::ExportError,
    sinew::fix::FixError,
    sinew::pick::PickError,
    sinew::render::RenderError,
    sinew::retarget::RetargetError,
    sinew::graph::GraphErrors,
    sinew::graph::RunError,
);
