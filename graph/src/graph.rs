use std::borrow::Cow;

use crate::{
    access::PassKind,
    compile::{self, CompileOptions},
    decl::{Declarations, PassDecl, Storage, TextureDecl, TextureDesc, Value},
    declare::Declare,
    error::{GraphError, GraphErrors},
    handle::{Buffer, Label, Pack, Pass, Texture},
    limits::Limits,
    plan::Plan,
    record::Record,
    runtime::{Host, Resources},
};

/// A retained description of one frame. `F` is the per-frame data that the passes receive.
///
/// Resources and passes are declared in any order and stay declared. A pass is declared by a closure that
/// names what it touches and returns the closure that records it, run by [`Runtime::run`](crate::Runtime::run)
/// every frame while the pass is in the plan.
pub struct Graph<F> {
    pub(crate) decl: Declarations,
    /// One closure per pass, parallel to `decl.passes`.
    pub(crate) records: Vec<Record<F>>,
}

impl<F> Default for Graph<F> {
    fn default() -> Self {
        Self { decl: Declarations::new(), records: Vec::new() }
    }
}

impl<F> Graph<F> {
    /// A graph with no resources and no passes.
    pub fn new() -> Self {
        Self::default()
    }

    /// A buffer of `size` bytes that lives inside one frame, placed in an arena.
    ///
    /// Sizes are rounded up to a multiple of 4, and never to less than 4.
    pub fn transient(&mut self, label: impl Into<Cow<'static, str>>, size: u64) -> Buffer {
        let label = label.into();
        self.decl.note(("transient", &label, size));
        self.storage(label.clone(), None, [(label, size)], false)
    }

    /// Buffers that lie back to back, each at an offset it can be bound at; sizes as for a transient.
    ///
    /// The writer binds all of it by [`Declare::pack_write`]; members that no pass reads are left out.
    pub fn pack<L: Into<Cow<'static, str>>>(
        &mut self,
        label: impl Into<Cow<'static, str>>,
        members: impl IntoIterator<Item = (L, u64)>,
    ) -> Pack {
        let label = label.into();
        self.decl.note(("pack", &label));
        let index = self.decl.packs.len() as u32;
        self.decl.packs.push(self.decl.storages.len() as u32);
        let members = members.into_iter().map(|(label, size)| (label.into(), size));
        self.storage(label, None, members, true);
        let range = self.decl.pack_storage(index).members.clone();
        for member in range {
            let Value { label, size, .. } = &self.decl.values[member as usize];
            let shape = (label.clone(), *size);
            self.decl.note(shape);
        }
        Pack { graph: self.decl.id, index }
    }

    /// The members of `pack`, in order; none if the pack is of another graph.
    pub fn members(&self, pack: Pack) -> impl ExactSizeIterator<Item = Buffer> + use<F> {
        let graph = self.decl.id;
        let known = pack.graph == graph && (pack.index as usize) < self.decl.packs.len();
        let range = if known { self.decl.pack_storage(pack.index).members.clone() } else { 0..0 };
        range.map(move |index| Buffer { graph, index })
    }

    /// The member `index` of `pack`. One that does not exist is reported where it is used.
    pub fn member(&self, pack: Pack, index: usize) -> Buffer {
        let missing = Buffer { graph: self.decl.id, index: u32::MAX };
        self.members(pack).nth(index).unwrap_or(missing)
    }

    /// A buffer of the caller, with contents from before the frame. Writing it keeps a pass alive.
    ///
    /// Importing one buffer twice returns the same value, so that its uses stay ordered.
    pub fn import(&mut self, label: impl Into<Cow<'static, str>>, buffer: &wgpu::Buffer) -> Buffer {
        let known = self.decl.storages.iter().find(|s| s.imported.as_ref() == Some(buffer));
        if let Some(storage) = known {
            return Buffer { graph: self.decl.id, index: storage.members.start };
        }
        let label = label.into();
        self.decl.note(("import", &label, buffer.size(), buffer.usage()));
        self.storage(label.clone(), Some(buffer.clone()), [(label, buffer.size())], false)
    }

    /// A texture that lives inside one frame, taken from a pool.
    pub fn texture(&mut self, label: impl Into<Cow<'static, str>>, desc: TextureDesc) -> Texture {
        self.declare_texture(label.into(), desc, false)
    }

    /// A texture of the caller, such as the surface, whose view is bound before every run by
    /// [`Runtime::bind_target`](crate::Runtime::bind_target). Drawing into it keeps a pass alive.
    pub fn target(&mut self, label: impl Into<Cow<'static, str>>, desc: TextureDesc) -> Texture {
        self.declare_texture(label.into(), desc, true)
    }

    /// Keeps `buffer` and its writer, and its bytes until the end of the frame: read them from
    /// [`Runtime::exported`](crate::Runtime::exported).
    pub fn export(&mut self, buffer: Buffer) {
        if buffer.graph == self.decl.id && (buffer.index as usize) < self.decl.values.len() {
            self.decl.values[buffer.index as usize].exported = true;
            self.decl.note(("export", buffer.index));
        } else {
            self.foreign("`export`", "buffer");
        }
    }

    /// Switches a pass off or on. The plan for each set of enabled passes is kept, so toggling is cheap;
    /// compile again after it.
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
    pub fn compile(&self, limits: &Limits) -> Result<Plan, GraphErrors> {
        compile::compile(&self.decl, limits, CompileOptions::default())
    }

    /// [`compile`](Self::compile) with stages switched off, to show that checks notice.
    #[doc(hidden)]
    pub fn compile_with(&self, limits: &Limits, options: CompileOptions) -> Result<Plan, GraphErrors> {
        compile::compile(&self.decl, limits, options)
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

    fn storage(
        &mut self,
        label: Label,
        imported: Option<wgpu::Buffer>,
        members: impl IntoIterator<Item = (Label, u64)>,
        is_pack: bool,
    ) -> Buffer {
        let storage = self.decl.storages.len() as u32;
        let first = self.decl.values.len() as u32;
        for (label, size) in members {
            let member = self.decl.values.len() as u32;
            let size = if imported.is_some() { size } else { rounded(size) };
            self.decl.values.push(Value {
                label,
                storage,
                member,
                size,
                writer: None,
                previous: None,
                modifier: None,
                exported: false,
            });
        }
        let members = first..self.decl.values.len() as u32;
        self.decl.storages.push(Storage { label, imported, members, is_pack });
        Buffer { graph: self.decl.id, index: first }
    }

    fn declare_texture(&mut self, label: Label, mut desc: TextureDesc, is_target: bool) -> Texture {
        desc.size.width = desc.size.width.max(1);
        desc.size.height = desc.size.height.max(1);
        desc.size.depth_or_array_layers = 1;
        self.decl.note(("texture", &label, desc, is_target));
        let index = self.decl.textures.len() as u32;
        self.decl.textures.push(TextureDecl { label, desc, is_target });
        Texture { graph: self.decl.id, index }
    }

    fn foreign(&mut self, place: &'static str, kind: &'static str) {
        self.decl.errors.push(GraphError::ForeignHandle { place: place.into(), kind });
    }
}

/// wgpu refuses empty bindings and copies that are not a multiple of 4.
fn rounded(size: u64) -> u64 {
    size.max(4).checked_next_multiple_of(4).unwrap_or(u64::MAX - 3)
}
