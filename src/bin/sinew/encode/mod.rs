//! Pictures to files, on a thread of its own so that drawing goes on meanwhile.

mod apng;
mod gif;
mod png;

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::mpsc::{SyncSender, sync_channel},
    thread::JoinHandle,
};

use crate::{failure::Failure, output::Output};

/// Pictures that may wait for the encoder.
const QUEUE: usize = 4;

/// RGBA, 8 bits each, sRGB, rows from the top.
#[derive(Debug)]
pub(crate) struct Picture {
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) rgba: Vec<u8>,
}

impl Picture {
    /// Without alpha: the background is opaque.
    fn rgb(&self) -> Vec<u8> {
        self.rgba.chunks_exact(4).flat_map(|p| [p[0], p[1], p[2]]).collect()
    }
}

/// Takes pictures in order.
trait Sink: Send {
    fn push(&mut self, picture: &Picture) -> io::Result<()>;
    fn finish(self: Box<Self>) -> io::Result<()>;
}

/// A running encoder.
pub(crate) struct Encoder {
    sender: SyncSender<Picture>,
    thread: JoinHandle<io::Result<()>>,
    path: PathBuf,
}

impl Encoder {
    /// Creates the files' folder and starts the thread; `delay` is seconds a frame.
    pub(crate) fn start(output: &Output, frames: usize, delay: f64) -> Result<Self, Failure> {
        let path = output.path().to_path_buf();
        let folder = match output {
            Output::Sequence(folder) => Some(folder.as_path()),
            _ => path.parent().filter(|p| !p.as_os_str().is_empty()),
        };
        if let Some(folder) = folder {
            fs::create_dir_all(folder).map_err(|error| cannot_write(folder, &error))?;
        }
        let sink: Box<dyn Sink> = match output {
            Output::Png(path) => Box::new(png::Single::new(path)),
            Output::Sequence(folder) => Box::new(png::Sequence::new(folder, frames)),
            Output::Gif(path) => Box::new(gif::Gif::new(path, delay)),
            Output::Apng(path) => Box::new(apng::Apng::new(path, frames, delay)),
        };
        let (sender, receiver) = sync_channel::<Picture>(QUEUE);
        let thread = std::thread::spawn(move || {
            let mut sink = sink;
            for picture in receiver {
                let _span = tracing::debug_span!("encode").entered();
                sink.push(&picture)?;
            }
            sink.finish()
        });
        Ok(Self { sender, thread, path })
    }

    /// Hands a picture over; `false` once the encoder has failed, [`Encoder::finish`] then says why.
    pub(crate) fn push(&self, picture: Picture) -> bool {
        self.sender.send(picture).is_ok()
    }

    /// Waits until everything is written.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        drop(self.sender);
        let ended = self.thread.join();
        let result = ended.unwrap_or_else(|_| Err(io::Error::other("the encoder stopped")));
        result.map_err(|error| cannot_write(&self.path, &error))
    }
}

pub(crate) fn cannot_write(path: &Path, error: &io::Error) -> Failure {
    Failure::new(format_args!("cannot write `{}`: {error}", path.display()))
        .help("check that the folder exists and may be written to")
}
