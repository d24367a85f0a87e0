use std::{
    fs::File,
    io::{self, BufWriter},
    path::{Path, PathBuf},
};

use super::{Picture, Sink};

/// One file; later pictures replace earlier ones.
pub(super) struct Single {
    path: PathBuf,
}

impl Single {
    pub(super) fn new(path: &Path) -> Self {
        Self { path: path.into() }
    }
}

impl Sink for Single {
    fn push(&mut self, picture: &Picture) -> io::Result<()> {
        write(&self.path, picture)
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        Ok(())
    }
}

/// `0000.png`, `0001.png`, ..
pub(super) struct Sequence {
    folder: PathBuf,
    next: usize,
    digits: usize,
}

impl Sequence {
    pub(super) fn new(folder: &Path, frames: usize) -> Self {
        let digits = frames.saturating_sub(1).to_string().len().max(4);
        Self { folder: folder.into(), next: 0, digits }
    }
}

impl Sink for Sequence {
    fn push(&mut self, picture: &Picture) -> io::Result<()> {
        let name = format!("{:0digits$}.png", self.next, digits = self.digits);
        self.next += 1;
        write(&self.folder.join(name), picture)
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        Ok(())
    }
}

fn write(path: &Path, picture: &Picture) -> io::Result<()> {
    let mut encoder = encoder(path, picture)?.write_header()?;
    encoder.write_image_data(&picture.rgb())?;
    Ok(encoder.finish()?)
}

/// An sRGB file without alpha.
pub(super) fn encoder(path: &Path, picture: &Picture) -> io::Result<png::Encoder<'static, BufWriter<File>>> {
    let file = BufWriter::new(File::create(path)?);
    let mut encoder = png::Encoder::new(file, picture.width, picture.height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
    encoder.set_compression(png::Compression::Balanced);
    Ok(encoder)
}
