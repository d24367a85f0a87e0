use std::{
    fs::File,
    io::{self, BufWriter},
    path::{Path, PathBuf},
};

use super::{Picture, Sink, png::encoder};

/// One animated PNG that loops for ever.
pub(super) struct Apng {
    path: PathBuf,
    frames: usize,
    delay: f64,
    writer: Option<png::Writer<BufWriter<File>>>,
}

impl Apng {
    pub(super) fn new(path: &Path, frames: usize, delay: f64) -> Self {
        Self { path: path.into(), frames, delay, writer: None }
    }

    fn start(&self, picture: &Picture) -> io::Result<png::Writer<BufWriter<File>>> {
        let mut encoder = encoder(&self.path, picture)?;
        encoder.set_animated(self.frames as u32, 0)?;
        // Seconds as a fraction, in tenths of a millisecond.
        let numerator = (self.delay * 10_000.0).round().clamp(1.0, 65535.0) as u16;
        encoder.set_frame_delay(numerator, 10_000)?;
        Ok(encoder.write_header()?)
    }
}

impl Sink for Apng {
    fn push(&mut self, picture: &Picture) -> io::Result<()> {
        if self.writer.is_none() {
            self.writer = Some(self.start(picture)?);
        }
        match &mut self.writer {
            Some(writer) => Ok(writer.write_image_data(&picture.rgb())?),
            None => Ok(()),
        }
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        match self.writer {
            Some(writer) => Ok(writer.finish()?),
            None => Ok(()),
        }
    }
}
