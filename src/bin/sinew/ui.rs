#![expect(clippy::print_stdout, clippy::print_stderr, reason = "the program's only way to speak")]

use std::fmt;

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

    /// What was asked for.
    pub(crate) fn result(self, line: impl fmt::Display) {
        println!("{line}");
    }

    /// What is good to know; not said when quiet.
    pub(crate) fn note(self, line: impl fmt::Display) {
        if !self.quiet {
            eprintln!("{line}");
        }
    }

    pub(crate) fn fail(self, failure: &Failure) {
        eprintln!("{failure}");
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
