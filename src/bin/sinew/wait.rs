use std::{
    sync::{
        Mutex,
        mpsc::{self, RecvTimeoutError},
    },
    thread,
    time::Duration,
};

use indicatif::{ProgressBar, ProgressStyle};
use sinew::import::{Progress, Stage};

use crate::ui::Ui;

/// A load that takes longer gets a bar.
const PATIENCE: Duration = Duration::from_millis(500);
const REDRAW: Duration = Duration::from_millis(100);
/// Steps of the bar for each stage.
const STEPS: usize = 100;

/// Does `load`, which tells how far it is, and shows that on stderr where somebody is likely to wait.
pub(crate) fn with_bar<T>(ui: Ui, load: impl FnOnce(Option<&dyn Fn(Progress)>) -> T) -> T {
    if !ui.shows_bars() {
        return load(None);
    }
    let now = Mutex::new(None);
    let (done, is_done) = mpsc::channel::<()>();
    thread::scope(|scope| {
        let now = &now;
        scope.spawn(move || show(now, &is_done));
        // Dropped also when `load` panics, so that the other thread ends.
        let _done = done;
        load(Some(&|progress| set(now, progress)))
    })
}

fn set(now: &Mutex<Option<Progress>>, progress: Progress) {
    if let Ok(mut now) = now.lock() {
        *now = Some(progress);
    }
}

fn show(now: &Mutex<Option<Progress>>, is_done: &mpsc::Receiver<()>) {
    let waits = |time| is_done.recv_timeout(time) == Err(RecvTimeoutError::Timeout);
    if !waits(PATIENCE) {
        return;
    }
    let style = ProgressStyle::with_template("loading: {msg:10} {wide_bar} {percent:>3}%");
    let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
    let bar = ProgressBar::new((Stage::ALL.len() * STEPS) as u64).with_style(style);
    loop {
        if let Some(progress) = now.lock().ok().and_then(|now| *now) {
            bar.set_position(position(progress) as u64);
            bar.set_message(progress.stage.to_string());
        }
        if !waits(REDRAW) {
            break;
        }
    }
    bar.finish_and_clear();
}

fn position(progress: Progress) -> usize {
    let stage = Stage::ALL.iter().position(|stage| *stage == progress.stage).unwrap_or(0);
    stage * STEPS + STEPS * progress.done / progress.of.max(1)
}

#[cfg(test)]
mod tests {
    use sinew::{Model, import::ImportOptions};

    use super::*;

    #[test]
    fn a_bar_only_moves_on_and_ends_before_its_end() {
        let seen = Mutex::new(Vec::new());
        let tell = |progress| seen.lock().map(|mut seen| seen.push(position(progress))).unwrap_or_default();
        let options = ImportOptions { progress: Some(&tell), ..Default::default() };
        let demo = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/mascot.glb");
        assert!(Model::load_with(demo, &options).is_ok());
        let seen = seen.into_inner().unwrap_or_default();
        assert!(seen.len() >= Stage::ALL.len() && seen.is_sorted());
        assert!(seen.iter().all(|at| *at < Stage::ALL.len() * STEPS));
    }
}
