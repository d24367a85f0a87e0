use std::{
    fmt,
    io::{self, ErrorKind, IsTerminal, Write},
};

use indicatif::{ProgressBar, ProgressStyle};

use crate::failure::Failure;

/// What the program says: results on stdout, everything else on stderr.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ui {
    quiet: bool,
}

impl Ui {
    pub(crate) fn new(quiet: bool) -> Self {
        Self { quiet }
    }

    /// The same without notes.
    pub(crate) fn quietly(self) -> Self {
        Self { quiet: true }
    }

    /// What was asked for. Ends the program quietly when nobody reads any more.
    pub(crate) fn result(self, line: impl fmt::Display) -> Result<(), Failure> {
        let mut out = io::stdout().lock();
        match writeln!(out, "{line}").and_then(|()| out.flush()) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => std::process::exit(0),
            Err(error) => Err(Failure::new(format_args!("cannot write the result: {error}"))),
            Ok(()) => Ok(()),
        }
    }

    /// What is good to know; not said when quiet.
    pub(crate) fn note(self, line: impl fmt::Display) {
        if !self.quiet {
            say(line);
        }
    }

    pub(crate) fn fail(self, failure: &Failure) {
        say(failure);
    }

    /// Whether a bar would be seen.
    pub(crate) fn shows_bars(self) -> bool {
        !self.quiet && io::stderr().is_terminal()
    }

    /// A bar on stderr, hidden when quiet or when stderr is no terminal.
    pub(crate) fn bar(self, length: usize, what: &'static str) -> ProgressBar {
        if self.quiet || length < 2 {
            return ProgressBar::hidden();
        }
        let style = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len} {eta}");
        let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
        ProgressBar::new(length as u64).with_style(style).with_message(what)
    }
}

/// To stderr; where even that is closed, to nobody.
fn say(line: impl fmt::Display) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}
