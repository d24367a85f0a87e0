use std::{borrow::Cow, cell::RefCell, sync::Arc};

use crate::{
    access::PassKind,
    compile::{self, CompileOptions},
    decl::{Declarations, PassDecl},
    declare::Declare,
    error::{GraphError, GraphErrors},
    handle::{GraphId, Label, Pass},
    limits::Limits,
    plan::{Body, Plan},
    record::Record,
    runtime::{Host, Resources},
};

/// Plans that a graph remembers.
const PLANS: usize = 16;

/// A retained description of one frame. `F` is the per-frame data that the passes receive.
///
/// Resources and passes are declared in any order and stay declared. A pass is declared by a closure that
/// names what it touches and returns the closure that records it, run by [`Runtime::run`](crate::Runtime::run)
/// every frame while the pass is in the plan.
pub struct Graph<F> {
    pub(crate) decl: Declarations,
    /// One closure per pass, parallel to `decl.passes`.
    pub(crate) records: Vec<Record<F>>,
    /// Of the first declarations; [`clear`](Self::clear) leaves it.
    pub(crate) family: GraphId,
    /// Whether sizes are rounded up to classes.
    pub(crate) size_classes: bool,
    /// Newest last.
    plans: RefCell<Vec<Arc<Body>>>,
    /// Alive as long as the graph: what the runtime keeps for it goes when this does.
    pub(crate) alive: Arc<()>,
}

impl<F> Default for Graph<F> {
    fn default() -> Self {
        let decl = Declarations::new();
        Self {
            family: decl.id,
            decl,
            records: Vec::new(),
            size_classes: false,
            plans: RefCell::default(),
            alive: Arc::default(),
        }
    }
}

impl<F> Graph<F> {
    /// A graph with no resources and no passes.
    pub fn new() -> Self {
        Self::default()
    }

    /// A graph whose buffers are rounded up to eighths of a power of two: declared anew with resources that
    /// grew a little, it finds its plan and its memory again. A buffer may then be larger than was asked
    /// for, on average by a sixteenth, as `arrayLength` in a shader and an upload block show.
    pub fn with_size_classes() -> Self {
        Self { size_classes: true, ..Self::default() }
    }

    /// Forgets every declaration, to declare anew when what there is to draw changed. Handles and plans made
    /// before are refused afterwards; persistent and history resources that are declared again with the same
    /// name, size and uses keep their contents.
    pub fn clear(&mut self) {
        self.decl = Declarations::new();
        self.records.clear();
    }

    /// Switches a pass off or on. Compile again after it: the newest plans are kept, so toggling is
    /// cheap.
    pub fn set_enabled(&mut self, pass: Pass, enabled: bool) {
        if pass.graph == self.decl.id && (pass.index as usize) < self.decl.passes.len() {
            self.decl.enable(pass.index, enabled);
        } else {
            self.foreign("`set_enabled`", "pass");
        }
    }

    /// Declares a pass that runs on the CPU while the frame is recorded and fills upload blocks.
    pub fn host<R>(
        &mut self,
        label: impl Into<Cow<'static, str>>,
        declare: impl FnOnce(&mut Declare<'_>) -> R,
    ) -> Pass
    where
        R: FnMut(&mut Host<'_>, &mut F) + wgpu::WasmNotSend + 'static,
    {
        let (pass, record) = self.open(label.into(), PassKind::Host, declare);
        self.records.push(Record::Host(Box::new(record)));
        pass
    }

    /// Declares a compute pass.
    pub fn compute<R>(
        &mut self,
        label: impl Into<Cow<'static, str>>,
        declare: impl FnOnce(&mut Declare<'_>) -> R,
    ) -> Pass
    where
        R: FnMut(&mut wgpu::ComputePass<'_>, &Resources<'_>, &F) + wgpu::WasmNotSend + 'static,
    {
        let (pass, record) = self.open(label.into(), PassKind::Compute, declare);
        self.records.push(Record::Compute(Box::new(record)));
        pass
    }

    /// Declares a render pass.
    pub fn raster<R>(
        &mut self,
        label: impl Into<Cow<'static, str>>,
        declare: impl FnOnce(&mut Declare<'_>) -> R,
    ) -> Pass
    where
        R: FnMut(&mut wgpu::RenderPass<'_>, &Resources<'_>, &F) + wgpu::WasmNotSend + 'static,
    {
        let (pass, record) = self.open(label.into(), PassKind::Raster, declare);
        self.records.push(Record::Raster(Box::new(record)));
        pass
    }

    /// Declares copies; the closure gets the caller's encoder and must leave it open.
    pub fn transfer<R>(
        &mut self,
        label: impl Into<Cow<'static, str>>,
        declare: impl FnOnce(&mut Declare<'_>) -> R,
    ) -> Pass
    where
        R: FnMut(&mut wgpu::CommandEncoder, &Resources<'_>, &F) + wgpu::WasmNotSend + 'static,
    {
        let (pass, record) = self.open(label.into(), PassKind::Transfer, declare);
        self.records.push(Record::Transfer(Box::new(record)));
        pass
    }

    /// Orders, culls and places everything. Needs no device; reports every error it finds.
    ///
    /// The newest plans are kept, each for one shape of the declarations: which passes are enabled, and
    /// everything that was declared. Asking again for one of them costs comparing numbers.
    pub fn compile(&self, limits: &Limits) -> Result<Plan, GraphErrors> {
        let key = compile::fingerprint(&self.decl, limits);
        let mut plans = self.plans.borrow_mut();
        // Mistakes are not part of the shape.
        if self.decl.errors.is_empty()
            && let Some(at) = plans.iter().position(|body| body.fingerprint == key)
        {
            let body = plans.remove(at);
            plans.push(Arc::clone(&body));
            return Ok(Plan {
                graph: self.decl.id,
                family: self.family,
                shape: self.decl.fingerprint(),
                body,
            });
        }
        let plan = compile::compile(&self.decl, self.family, limits, CompileOptions::default())?;
        if plans.len() == PLANS {
            plans.remove(0);
        }
        plans.push(Arc::clone(&plan.body));
        Ok(plan)
    }

    /// [`compile`](Self::compile) without its memory, and with stages switched off, to show that checks notice.
    #[doc(hidden)]
    pub fn compile_with(&self, limits: &Limits, options: CompileOptions) -> Result<Plan, GraphErrors> {
        compile::compile(&self.decl, self.family, limits, options)
    }

    fn open<R>(
        &mut self,
        label: Label,
        kind: PassKind,
        declare: impl FnOnce(&mut Declare<'_>) -> R,
    ) -> (Pass, R) {
        let index = self.decl.passes.len() as u32;
        self.decl.note(("pass", &label, kind));
        self.decl.passes.push(PassDecl {
            label,
            kind,
            uses: Default::default(),
            color: Default::default(),
            depth: None,
            keep: false,
            enabled: true,
        });
        let record = declare(&mut Declare { decl: &mut self.decl, pass: index });
        (Pass { graph: self.decl.id, index }, record)
    }

    pub(crate) fn foreign(&mut self, place: &'static str, kind: &'static str) {
        self.decl.errors.push(GraphError::ForeignHandle { place: place.into(), kind });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compile(graph: &Graph<()>) -> Plan {
        graph.compile(&Limits::default()).expect("a valid graph")
    }

    fn kept_passes(count: usize) -> (Graph<()>, Vec<Pass>) {
        let mut graph = Graph::new();
        let pass = |graph: &mut Graph<()>| {
            graph.host("pass", |pass| {
                pass.keep();
                |_, ()| ()
            })
        };
        let passes = (0..count).map(|_| pass(&mut graph)).collect();
        (graph, passes)
    }

    #[test]
    fn a_plan_is_remembered() {
        let (graph, _) = kept_passes(1);
        assert!(Arc::ptr_eq(&compile(&graph).body, &compile(&graph).body));
    }

    #[test]
    fn a_plan_is_remembered_over_clear() {
        let (mut graph, _) = kept_passes(0);
        let declare = |graph: &mut Graph<()>| {
            graph.clear();
            graph.host("pass", |pass| {
                pass.keep();
                |_, ()| ()
            });
            compile(graph).body
        };
        let first = declare(&mut graph);
        assert!(Arc::ptr_eq(&first, &declare(&mut graph)));
    }

    #[test]
    fn the_plan_that_was_not_asked_for_longest_is_forgotten() {
        let (mut graph, passes) = kept_passes(PLANS + 2);
        let first = compile(&graph).body;
        for &pass in &passes[..PLANS - 1] {
            graph.set_enabled(pass, false);
            compile(&graph);
        }
        passes.iter().for_each(|&pass| graph.set_enabled(pass, true));
        assert!(Arc::ptr_eq(&first, &compile(&graph).body), "asked for again just in time");
        for &pass in &passes[..=PLANS] {
            graph.set_enabled(pass, false);
            compile(&graph);
        }
        passes.iter().for_each(|&pass| graph.set_enabled(pass, true));
        assert!(!Arc::ptr_eq(&first, &compile(&graph).body));
    }
}
