use std::{
    fs::File,
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

use super::{Picture, Sink};

/// 1 (best) to 30 (fastest): every how many pixels the palette is trained with.
const SPEED: i32 = 10;

/// One GIF that loops for ever, each frame with its own palette.
pub(super) struct Gif {
    path: PathBuf,
    delay: f64,
    frame: u32,
    encoder: Option<gif::Encoder<BufWriter<File>>>,
}

impl Gif {
    pub(super) fn new(path: &Path, delay: f64) -> Self {
        Self { path: path.into(), delay, frame: 0, encoder: None }
    }

    fn start(&self, picture: &Picture) -> io::Result<gif::Encoder<BufWriter<File>>> {
        let file = BufWriter::new(File::create(&self.path)?);
        let (width, height) = size(picture)?;
        let mut encoder = gif::Encoder::new(file, width, height, &[]).map_err(io::Error::other)?;
        encoder.set_repeat(gif::Repeat::Infinite).map_err(io::Error::other)?;
        Ok(encoder)
    }

    /// Hundredths of a second, rounded so that the error does not add up over the frames.
    fn next_delay(&mut self) -> u16 {
        let end = |frame: u32| (self.delay * 100.0 * f64::from(frame)).round();
        let delay = end(self.frame + 1) - end(self.frame);
        self.frame += 1;
        delay.clamp(2.0, 65535.0) as u16
    }
}

impl Sink for Gif {
    fn push(&mut self, picture: &Picture) -> io::Result<()> {
        if self.encoder.is_none() {
            self.encoder = Some(self.start(picture)?);
        }
        let (width, height) = size(picture)?;
        let mut rgba = picture.rgba.clone();
        let mut frame = gif::Frame::from_rgba_speed(width, height, &mut rgba, SPEED);
        frame.delay = self.next_delay();
        match &mut self.encoder {
            Some(encoder) => encoder.write_frame(&frame).map_err(io::Error::other),
            None => Ok(()),
        }
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        match self.encoder {
            Some(encoder) => encoder.into_inner().map_err(io::Error::other)?.flush(),
            None => Ok(()),
        }
    }
}

fn size(picture: &Picture) -> io::Result<(u16, u16)> {
    let side = |side: u32| u16::try_from(side).map_err(io::Error::other);
    Ok((side(picture.width)?, side(picture.height)?))
}
