//! Declaring resources.

use std::borrow::Cow;

use crate::{
    decl::{Home, KeptDecl, Side, Storage, TextureDecl, TextureDesc, Value},
    error::GraphError,
    graph::Graph,
    handle::{Buffer, History, Label, Pack, Texture},
};

impl<F> Graph<F> {
    /// A buffer of `size` bytes that lives inside one frame, placed in an arena.
    ///
    /// Sizes are rounded up to a multiple of 4, and never to less than 4.
    pub fn transient(&mut self, label: impl Into<Cow<'static, str>>, size: u64) -> Buffer {
        self.buffer(label.into(), size, Home::Transient)
    }

    /// A buffer of `size` bytes that keeps its contents from run to run, as long as the graph and the runtime
    /// live; zeros at first. Writing it keeps a pass alive, since a later frame may read it. Declared anew with
    /// another name, size or, of a pack, other members it starts anew; so does a texture with other uses.
    ///
    /// A pass that reads it without another writing it sees what the run before left. To read that and to
    /// change it in the same frame, [`modify`](crate::Declare::modify) it or declare a
    /// [`history`](Self::history).
    pub fn persistent(&mut self, label: impl Into<Cow<'static, str>>, size: u64) -> Buffer {
        let home = self.keep_storage();
        self.buffer(label.into(), size, home)
    }

    /// Two buffers of `size` bytes that change places after every run that filled `current`: that is filled by a pass of this frame,
    /// `previous` is what the newest run that filled it left there. Filling it keeps a pass alive.
    ///
    /// Until there is such a run `previous` holds zeros, and
    /// [`Resources::has_previous`](crate::Resources::has_previous) is false. To say what the first frame should
    /// see instead, let a pass write `previous`, and do so only while there is none:
    ///
    /// ```
    /// # let mut graph = sinew_graph::Graph::<()>::new();
    /// let history = graph.history("heat", 1024);
    /// graph.host("seed", |pass| {
    ///     let seed = pass.upload(history.previous);
    ///     move |host, ()| {
    ///         if !host.has_previous(history.previous) {
    ///             host.write(seed).copy_from_slice(&[0; 1024]);
    ///         }
    ///     }
    /// });
    /// ```
    pub fn history(&mut self, label: impl Into<Cow<'static, str>>, size: u64) -> History<Buffer> {
        let label = label.into();
        let (current, previous) = self.keep_storages();
        History {
            current: self.buffer(label.clone(), size, current),
            previous: self.buffer(format!("{label} (previous)").into(), size, previous),
        }
    }

    /// Buffers that lie back to back, each at an offset it can be bound at; sizes as for a transient.
    ///
    /// The writer binds all of it by [`Declare::pack_write`](crate::Declare::pack_write); members that no pass
    /// reads are left out.
    pub fn pack<L: Into<Cow<'static, str>>>(
        &mut self,
        label: impl Into<Cow<'static, str>>,
        members: impl IntoIterator<Item = (L, u64)>,
    ) -> Pack {
        let members = members.into_iter().map(|(label, size)| (label.into(), size));
        self.declare_pack(label.into(), members, Home::Transient)
    }

    /// A pack that keeps its contents from run to run, as [`persistent`](Self::persistent) does. All members
    /// have memory, read or not.
    pub fn persistent_pack<L: Into<Cow<'static, str>>>(
        &mut self,
        label: impl Into<Cow<'static, str>>,
        members: impl IntoIterator<Item = (L, u64)>,
    ) -> Pack {
        let home = self.keep_storage();
        let members = members.into_iter().map(|(label, size)| (label.into(), size));
        self.declare_pack(label.into(), members, home)
    }

    /// Two packs that change places as those of a [`history`](Self::history) do. All members have memory,
    /// read or not.
    pub fn history_pack<L: Into<Cow<'static, str>>>(
        &mut self,
        label: impl Into<Cow<'static, str>>,
        members: impl IntoIterator<Item = (L, u64)>,
    ) -> History<Pack> {
        let label = label.into();
        let members: Vec<(Label, u64)> =
            members.into_iter().map(|(label, size)| (label.into(), size)).collect();
        let (current, previous) = self.keep_storages();
        let before = members.iter().map(|(label, size)| (format!("{label} (previous)").into(), *size));
        let before: Vec<(Label, u64)> = before.collect();
        History {
            current: self.declare_pack(label.clone(), members, current),
            previous: self.declare_pack(format!("{label} (previous)").into(), before, previous),
        }
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
        let is_known = |storage: &Storage| matches!(&storage.home, Home::External(known) if known == buffer);
        if let Some(storage) = self.decl.storages.iter().find(|storage| is_known(storage)) {
            return Buffer { graph: self.decl.id, index: storage.members.start };
        }
        let label = label.into();
        self.decl.note(("import", &label));
        self.storage(label.clone(), Home::External(buffer.clone()), [(label, buffer.size())], false)
    }

    /// Puts another buffer in the place of an imported one. Under the same size and usages the plan stays
    /// valid, and the next run builds only what holds the buffer; otherwise compile again.
    pub fn replace_import(&mut self, import: Buffer, with: &wgpu::Buffer) {
        let known = import.graph == self.decl.id && (import.index as usize) < self.decl.values.len();
        if !known {
            return self.foreign("`replace_import`", "buffer");
        }
        let storage = self.decl.values[import.index as usize].storage;
        let Home::External(before) = &self.decl.storages[storage as usize].home else {
            let resource = self.decl.values[import.index as usize].label.clone();
            return self.decl.errors.push(GraphError::NotImported { resource });
        };
        if before == with {
            return;
        }
        let has_it = |other: &Storage| matches!(&other.home, Home::External(buffer) if buffer == with);
        if let Some(other) = self.decl.storages.iter().find(|other| has_it(other)) {
            let (resource, other) =
                (self.decl.values[import.index as usize].label.clone(), other.label.clone());
            return self.decl.errors.push(GraphError::ImportedTwice { resource, other });
        }
        self.decl.storages[storage as usize].home = Home::External(with.clone());
        for value in self.decl.values.iter_mut().filter(|value| value.storage == storage) {
            value.size = with.size();
        }
        self.decl.touch_switches();
    }

    /// A texture that lives inside one frame, taken from a pool.
    pub fn texture(&mut self, label: impl Into<Cow<'static, str>>, desc: TextureDesc) -> Texture {
        self.declare_texture(label.into(), desc, Home::Transient)
    }

    /// A texture that keeps its contents from run to run, as [`persistent`](Self::persistent) does.
    pub fn persistent_texture(&mut self, label: impl Into<Cow<'static, str>>, desc: TextureDesc) -> Texture {
        let resource = self.decl.textures.len() as u32;
        self.decl.kept_textures.push(KeptDecl { resource, previous: None });
        let kept = self.decl.kept_textures.len() as u32 - 1;
        self.declare_texture(label.into(), desc, Home::Kept(kept, Side::Persistent))
    }

    /// Two textures that change places as those of a [`history`](Self::history) do.
    pub fn history_texture(
        &mut self,
        label: impl Into<Cow<'static, str>>,
        desc: TextureDesc,
    ) -> History<Texture> {
        let label = label.into();
        let resource = self.decl.textures.len() as u32;
        self.decl.kept_textures.push(KeptDecl { resource, previous: Some(resource + 1) });
        let kept = self.decl.kept_textures.len() as u32 - 1;
        let before = format!("{label} (previous)");
        History {
            current: self.declare_texture(label, desc, Home::Kept(kept, Side::Current)),
            previous: self.declare_texture(before.into(), desc, Home::Kept(kept, Side::Previous)),
        }
    }

    /// A texture of the caller, such as the surface, whose view is bound before every run by
    /// [`Runtime::bind_target`](crate::Runtime::bind_target). Drawing into it keeps a pass alive.
    pub fn target(&mut self, label: impl Into<Cow<'static, str>>, desc: TextureDesc) -> Texture {
        self.declare_texture(label.into(), desc, Home::External(()))
    }

    /// Keeps `buffer` and its writer, and its bytes until the end of the frame: read them from
    /// [`Runtime::exported`](crate::Runtime::exported).
    pub fn export(&mut self, buffer: Buffer) {
        self.export_for(buffer, wgpu::BufferUsages::COPY_SRC);
    }

    /// As [`export`](Self::export), for uses outside the graph other than being copied from.
    pub fn export_for(&mut self, buffer: Buffer, usage: wgpu::BufferUsages) {
        if buffer.graph == self.decl.id && (buffer.index as usize) < self.decl.values.len() {
            const MAPPED: wgpu::BufferUsages =
                wgpu::BufferUsages::MAP_READ.union(wgpu::BufferUsages::MAP_WRITE);
            let value = &mut self.decl.values[buffer.index as usize];
            let storage = &self.decl.storages[value.storage as usize];
            if usage.intersects(MAPPED) && !matches!(storage.home, Home::External(_)) {
                let resource = value.label.clone();
                return self.decl.errors.push(GraphError::ExportForMapping { resource, usage });
            }
            value.exported = true;
            self.decl.storages[value.storage as usize].extra_usage |= usage;
            self.decl.note(("export", buffer.index, usage));
        } else {
            self.foreign("`export`", "buffer");
        }
    }

    fn buffer(&mut self, label: Label, size: u64, home: Home<wgpu::Buffer>) -> Buffer {
        let place = home.place();
        let buffer = self.storage(label.clone(), home, [(label, size)], false);
        let Value { label, size, .. } = &self.decl.values[buffer.index as usize];
        let shape = ("buffer", label.clone(), *size, place);
        self.decl.note(shape);
        buffer
    }

    fn declare_pack(
        &mut self,
        label: Label,
        members: impl IntoIterator<Item = (Label, u64)>,
        home: Home<wgpu::Buffer>,
    ) -> Pack {
        self.decl.note(("pack", &label, home.place()));
        let index = self.decl.packs.len() as u32;
        self.decl.packs.push(self.decl.storages.len() as u32);
        self.storage(label, home, members, true);
        let range = self.decl.pack_storage(index).members.clone();
        self.decl.note(range.len());
        for member in range {
            let Value { label, size, .. } = &self.decl.values[member as usize];
            let shape = (label.clone(), *size);
            self.decl.note(shape);
        }
        Pack { graph: self.decl.id, index }
    }

    fn storage(
        &mut self,
        label: Label,
        home: Home<wgpu::Buffer>,
        members: impl IntoIterator<Item = (Label, u64)>,
        is_pack: bool,
    ) -> Buffer {
        let storage = self.decl.storages.len() as u32;
        let first = self.decl.values.len() as u32;
        let is_imported = matches!(home, Home::External(_));
        for (label, size) in members {
            let member = self.decl.values.len() as u32;
            let size = match (is_imported, self.size_classes) {
                (true, _) => size,
                (false, true) => rounded(size_class(size)),
                (false, false) => rounded(size),
            };
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
        let extra_usage = wgpu::BufferUsages::empty();
        self.decl.storages.push(Storage { label, home, extra_usage, members, is_pack });
        Buffer { graph: self.decl.id, index: first }
    }

    /// The home of the storage that is declared next.
    fn keep_storage(&mut self) -> Home<wgpu::Buffer> {
        self.decl.kept.push(KeptDecl { resource: self.decl.storages.len() as u32, previous: None });
        Home::Kept(self.decl.kept.len() as u32 - 1, Side::Persistent)
    }

    /// The homes of the two storages that are declared next.
    fn keep_storages(&mut self) -> (Home<wgpu::Buffer>, Home<wgpu::Buffer>) {
        let resource = self.decl.storages.len() as u32;
        self.decl.kept.push(KeptDecl { resource, previous: Some(resource + 1) });
        let kept = self.decl.kept.len() as u32 - 1;
        (Home::Kept(kept, Side::Current), Home::Kept(kept, Side::Previous))
    }

    fn declare_texture(&mut self, label: Label, mut desc: TextureDesc, home: Home<()>) -> Texture {
        desc.size.width = desc.size.width.max(1);
        desc.size.height = desc.size.height.max(1);
        desc.size.depth_or_array_layers = 1;
        self.decl.note(("texture", &label, desc, home));
        let index = self.decl.textures.len() as u32;
        self.decl.textures.push(TextureDecl { label, desc, home });
        Texture { graph: self.decl.id, index }
    }
}

/// The next eighth of a power of two.
fn size_class(size: u64) -> u64 {
    let step = size.checked_next_power_of_two().unwrap_or(1 << 63) / 16;
    size.checked_next_multiple_of(step.max(1)).unwrap_or(size)
}

/// wgpu refuses empty bindings and copies that are not a multiple of 4.
fn rounded(size: u64) -> u64 {
    size.max(4).checked_next_multiple_of(4).unwrap_or(u64::MAX - 3)
}
