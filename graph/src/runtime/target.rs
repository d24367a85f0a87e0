use crate::handle::{GraphId, Texture};

/// The views bound for the next run. They are let go after it, so that no surface texture is held longer
/// than the frame it belongs to.
#[derive(Debug, Default)]
pub(crate) struct Targets(Vec<Bound>);

/// Runs of other graphs after which a view is let go that its own graph did not ask for, as when it was declared
/// anew or dropped.
const PATIENCE: u32 = 16;

#[derive(Debug)]
struct Bound {
    graph: GraphId,
    texture: u32,
    view: wgpu::TextureView,
    /// Runs of other graphs since it was bound.
    waited: u32,
}

impl Targets {
    pub(crate) fn bind(&mut self, target: Texture, view: &wgpu::TextureView) {
        let (graph, texture) = (target.graph, target.index);
        match self.0.iter_mut().find(|bound| (bound.graph, bound.texture) == (graph, texture)) {
            Some(bound) => {
                bound.view.clone_from(view);
                bound.waited = 0;
            }
            None => self.0.push(Bound { graph, texture, view: view.clone(), waited: 0 }),
        }
    }

    pub(crate) fn view(&self, graph: GraphId, texture: u32) -> Option<&wgpu::TextureView> {
        let mut bound = self.0.iter();
        bound.find(|bound| (bound.graph, bound.texture) == (graph, texture)).map(|bound| &bound.view)
    }

    /// After a run of `graph`.
    pub(crate) fn release(&mut self, graph: GraphId) {
        self.0.retain_mut(|bound| {
            bound.waited += 1;
            bound.graph != graph && bound.waited < PATIENCE
        });
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}
