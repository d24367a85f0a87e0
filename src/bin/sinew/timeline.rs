use sinew::Model;

/// Most frames of one run, so that a typing error does not fill the disk.
pub(crate) const MOST_FRAMES: usize = 100_000;

/// The times to draw, and how long each is shown.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Timeline {
    /// Seconds into the clip.
    pub(crate) times: Vec<f64>,
    /// Seconds a frame.
    pub(crate) delay: f64,
}

/// What was asked for on the command line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wish {
    pub(crate) time: Option<f64>,
    pub(crate) frames: Option<u32>,
    pub(crate) fps: f64,
    /// More than one picture fits the output.
    pub(crate) animated: bool,
}

impl Timeline {
    /// A time as asked for; `frames` times of a looping clip; one whole loop, its frames evenly spread so
    /// that the last one leads back to the first; or for a single picture the clip's middle.
    pub(crate) fn new(model: &Model, clip: Option<u32>, wish: Wish) -> Self {
        let clip = clip.and_then(|index| model.clips().get(index as usize));
        let (start, end) = clip.map_or((0.0, 0.0), |c| (f64::from(c.start()), f64::from(c.duration())));
        let (length, delay) = (end - start, 1.0 / wish.fps);
        let one = |time| Self { times: vec![time], delay };
        if let Some(time) = wish.time {
            return one(time);
        }
        if let Some(frames) = wish.frames {
            let wrapped = |seconds: f64| if length > 0.0 { start + seconds % length } else { start };
            return Self { times: (0..frames).map(|i| wrapped(f64::from(i) * delay)).collect(), delay };
        }
        if !wish.animated {
            return one(start + length * 0.5);
        }
        let frames = ((length * wish.fps).round() as usize).clamp(1, MOST_FRAMES);
        let delay = if frames > 1 { length / frames as f64 } else { delay };
        Self { times: (0..frames).map(|i| start + i as f64 * delay).collect(), delay }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew::model::{Channel, Clip, Interpolation, ModelDesc, Node, Skeleton, Track};

    fn model() -> Model {
        let track = Track {
            node: 0,
            channel: Channel::Translation,
            interpolation: Interpolation::Linear,
            times: vec![0.0, 1.03],
            values: vec![0.0; 6],
            width: 3,
        };
        Model::new(ModelDesc {
            skeleton: Skeleton::new(vec![Node::default()]).unwrap(),
            clips: vec![Clip::new("walk", vec![track]).unwrap()],
            ..ModelDesc::default()
        })
        .unwrap()
    }

    const WISH: Wish = Wish { time: None, frames: None, fps: 20.0, animated: true };

    #[test]
    fn one_loop_ends_one_frame_before_it_starts_again() {
        let timeline = Timeline::new(&model(), Some(0), WISH);
        assert_eq!(timeline.times.len(), 21);
        assert!((timeline.times[20] + timeline.delay - 1.03).abs() < 1e-6);
    }

    #[test]
    fn frames_beyond_the_clip_loop() {
        let timeline = Timeline::new(&model(), Some(0), Wish { frames: Some(30), ..WISH });
        assert_eq!(timeline.times.len(), 30);
        assert!(timeline.times.iter().all(|t| *t < 1.03));
    }

    #[test]
    fn a_single_picture_shows_the_middle_and_a_file_without_clips_its_rest() {
        let still = Wish { animated: false, ..WISH };
        assert!((Timeline::new(&model(), Some(0), still).times[0] - 0.515).abs() < 1e-6);
        assert_eq!(Timeline::new(&model(), None, still).times, [0.0]);
        assert_eq!(Timeline::new(&model(), None, WISH).times, [0.0]);
    }
}
