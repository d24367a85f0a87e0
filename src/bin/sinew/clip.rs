use std::path::Path;

use sinew::Model;

use crate::failure::Failure;

/// The clip to play: by exact name, else by index, else the first one; `None` where there is none.
pub(crate) fn choose(model: &Model, wanted: Option<&str>, path: &Path) -> Result<Option<u32>, Failure> {
    let Some(wanted) = wanted else {
        return Ok(if model.clips().is_empty() { None } else { Some(0) });
    };
    let by_index = || wanted.parse().ok().filter(|&index: &u32| (index as usize) < model.clips().len());
    if let Some(index) = model.find_clip(wanted).or_else(by_index) {
        return Ok(Some(index));
    }
    let names = model.clips().iter().enumerate().map(|(index, clip)| format!("{index} `{}`", clip.name()));
    let names: Vec<_> = names.take(40).collect();
    let help = match names.is_empty() {
        true => "the file has no clips; leave --clip away for the rest pose".to_owned(),
        false => format!("its clips are {}", names.join(", ")),
    };
    Err(Failure::new(format_args!("`{}` has no clip `{wanted}`", path.display())).help(help))
}

/// The clip to play, or the rest pose where none is asked for.
pub(crate) fn or_rest(model: &Model, wanted: Option<&str>, path: &Path) -> Result<Option<u32>, Failure> {
    if wanted.is_some() { choose(model, wanted, path) } else { Ok(None) }
}

/// A time in a clip, as an argument.
pub(crate) fn seconds(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|s| s.is_finite() && *s >= 0.0);
    number.ok_or_else(|| "give seconds, such as 0.5".into())
}

/// Name for people.
pub(crate) fn describe(model: &Model, clip: Option<u32>) -> String {
    let clip = clip.and_then(|index| Some((index, model.clips().get(index as usize)?)));
    clip.map_or("rest pose".into(), |(index, clip)| match clip.name() {
        "" => format!("clip {index}"),
        name => format!("clip `{name}`"),
    })
}
