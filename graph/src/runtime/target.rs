use crate::handle::{GraphId, Texture};

/// The views bound for the next run. They are let go after it, so that no surface texture is held longer
/// than the frame it belongs to.
#[derive(Debug, Default)]
pub(crate) struct Targets(Vec<(GraphId, u32, wgpu::TextureView)>);

impl Targets {
    pub(crate) fn bind(&mut self, target: Texture, view: &wgpu::TextureView) {
        let bound =
            self.0.iter_mut().find(|(graph, index, _)| (*graph, *index) == (target.graph, target.index));
        match bound {
            Some((_, _, bound)) => bound.clone_from(view),
            None => self.0.push((target.graph, target.index, view.clone())),
        }
    }

    pub(crate) fn view(&self, graph: GraphId, texture: u32) -> Option<&wgpu::TextureView> {
        let mut bound = self.0.iter();
        bound.find(|(g, index, _)| (*g, *index) == (graph, texture)).map(|(_, _, view)| view)
    }

    pub(crate) fn release(&mut self, graph: GraphId) {
        self.0.retain(|(of, _, _)| *of != graph);
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}
