use std::path::Path;

use sinew::{
    Deformer, InstanceId, Model, animate::LayerKind, deform::DeformError, model::Bounds, render::extents,
};

use crate::{clip, failure::Failure};

/// What is played on the command line: clips with their weights, and what is hidden.
pub(crate) struct Playing {
    /// The first one gives the times.
    layers: Vec<(u32, f32)>,
    hidden: Vec<u32>,
}

impl Playing {
    /// One clip, or several as `A:0.3,B:0.7`; nodes to hide by name or index.
    pub(crate) fn new(
        model: &Model,
        clip: Option<&str>,
        blend: Option<&str>,
        hide: &[String],
        path: &Path,
    ) -> Result<Self, Failure> {
        let layers = match blend {
            None => clip::choose(model, clip, path)?.map(|clip| (clip, 1.0)).into_iter().collect(),
            Some(blend) => {
                let layers = blend.split(',').map(|part| layer(model, part, path));
                layers.collect::<Result<Vec<_>, _>>()?
            }
        };
        let hidden = hide.iter().map(|name| node(model, name, path)).collect::<Result<_, _>>()?;
        Ok(Self { layers, hidden })
    }

    /// A clip alone.
    pub(crate) fn clip(clip: Option<u32>) -> Self {
        Self { layers: clip.map(|clip| (clip, 1.0)).into_iter().collect(), hidden: Vec::new() }
    }

    /// The clip whose length counts.
    pub(crate) fn first(&self) -> Option<u32> {
        self.layers.first().map(|layer| layer.0)
    }

    /// Starts playing.
    pub(crate) fn start(&self, deformer: &mut Deformer, id: InstanceId) -> Result<(), DeformError> {
        for &(clip, weight) in &self.layers {
            deformer.animator_mut().add_layer(id, clip, LayerKind::Blend)?.weight = weight;
        }
        for &node in &self.hidden {
            deformer.animator_mut().show_node(id, node, false)?;
        }
        Ok(())
    }

    /// Goes to a time of the first clip; the others repeat themselves if they are shorter.
    pub(crate) fn seek(&self, deformer: &mut Deformer, id: InstanceId, time: f64) -> Result<(), DeformError> {
        let layers: Vec<_> = deformer.animator().layers(id)?.iter().map(sinew::animate::Layer::id).collect();
        for (at, layer) in layers.into_iter().enumerate() {
            let player = &mut deformer.animator_mut().layer_mut(id, layer)?.player;
            let length = player.duration();
            let own = if at == 0 || length <= 0.0 || time <= length { time } else { time % length };
            player.seek(own);
        }
        Ok(())
    }

    /// Room that any of the clips takes.
    pub(crate) fn extents(&self, model: &Model) -> Result<Bounds, DeformError> {
        if self.layers.is_empty() {
            return extents(model, None::<u32>);
        }
        let mut bounds = Bounds::EMPTY;
        for &(clip, _) in &self.layers {
            let own = extents(model, Some(clip))?;
            if !own.is_empty() {
                own.corners().into_iter().for_each(|corner| bounds.add(corner));
            }
        }
        Ok(bounds)
    }

    /// Name for people.
    pub(crate) fn describe(&self, model: &Model) -> String {
        match &self.layers[..] {
            [] => clip::describe(model, None),
            [(clip, _)] => clip::describe(model, Some(*clip)),
            layers => {
                let one = |(clip, weight): &(u32, f32)| {
                    format!("{} at {weight}", clip::describe(model, Some(*clip)))
                };
                layers.iter().map(one).collect::<Vec<_>>().join(" and ")
            }
        }
    }
}

/// `NAME:WEIGHT`.
fn layer(model: &Model, text: &str, path: &Path) -> Result<(u32, f32), Failure> {
    let usage = || {
        Failure::usage(format_args!("`{text}` is not a clip with its weight"))
            .help("give clips as NAME:WEIGHT, such as --blend walk:0.3,run:0.7")
    };
    let (name, weight) = text.rsplit_once(':').ok_or_else(usage)?;
    let weight = weight.trim().parse::<f32>().ok().filter(|weight| *weight >= 0.0 && weight.is_finite());
    let weight = weight.ok_or_else(usage)?;
    let clip = clip::choose(model, Some(name.trim()), path)?.ok_or_else(usage)?;
    Ok((clip, weight))
}

/// A node by exact name, else by index.
fn node(model: &Model, wanted: &str, path: &Path) -> Result<u32, Failure> {
    let names = model.skeleton().names();
    let by_name = names.iter().position(|name| name.as_str() == wanted).map(|at| at as u32);
    let by_index = || wanted.parse().ok().filter(|&index: &u32| (index as usize) < names.len());
    by_name.or_else(by_index).ok_or_else(|| {
        let known = names.iter().filter(|name| !name.is_empty()).take(40).map(|name| format!("`{name}`"));
        let known = known.collect::<Vec<_>>().join(", ");
        let help = match known.is_empty() {
            true => format!("its {} nodes have no names; give an index", names.len()),
            false => format!("its nodes are {known}"),
        };
        Failure::new(format_args!("`{}` has no node `{wanted}`", path.display())).help(help)
    })
}
