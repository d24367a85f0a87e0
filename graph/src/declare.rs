use crate::{
    access::{Access, Bind, BindKind, Target, Use},
    decl::{ColorDecl, Declarations, DepthDecl, GroupDecl, UseDecl, Value},
    error::GraphError,
    handle::{Buffer, GraphId, Group, Label, Pack, Texture},
    role,
};

/// Collects what one pass touches. Nothing here fails: [`Graph::compile`](crate::Graph::compile) reports
/// every mistake at once.
pub struct Declare<'g> {
    pub(crate) decl: &'g mut Declarations,
    pub(crate) pass: u32,
}

macro_rules! buffer_reads {
    ($($(#[$doc:meta])* $name:ident -> $role:ident;)*) => {$(
        $(#[$doc])*
        pub fn $name(&mut self, buffer: Buffer) -> Access<role::$role> {
            let target = self.buffer(buffer);
            self.touch(target, Use::$role)
        }
    )*};
}

impl Declare<'_> {
    buffer_reads! {
        /// Reads `buffer` in a shader as `var<storage, read>`.
        storage_read -> StorageRead;
        /// Reads `buffer` in a shader as `var<uniform>`.
        uniform -> Uniform;
        /// Reads `buffer` as vertices.
        vertex -> Vertex;
        /// Reads `buffer` as indices.
        index -> Index;
        /// Reads `buffer` as arguments of draws or dispatches.
        indirect -> Indirect;
        /// Copies out of `buffer`.
        copy_src -> CopySrc;
    }

    /// Fills `buffer` completely in a shader, as `var<storage, read_write>`.
    pub fn storage_write(&mut self, buffer: Buffer) -> Access<role::StorageWrite> {
        let target = self.buffer(buffer);
        self.write(target, Use::StorageWrite)
    }

    /// Fills `buffer` completely by copies.
    pub fn copy_dst(&mut self, buffer: Buffer) -> Access<role::CopyDst> {
        let target = self.buffer(buffer);
        self.write(target, Use::CopyDst)
    }

    /// Fills `buffer` from the CPU while the frame is recorded; only in a host pass.
    pub fn upload(&mut self, buffer: Buffer) -> Access<role::Upload> {
        let target = self.buffer(buffer);
        self.write(target, Use::Upload)
    }

    /// Fills every live member of `pack` in a shader, bound as one range.
    pub fn pack_write(&mut self, pack: Pack) -> Access<role::StorageWrite> {
        let target = self.pack(pack);
        self.write(target, Use::StorageWrite)
    }

    /// Reads all of `pack` in a shader, bound as one range; keeps every member.
    pub fn pack_read(&mut self, pack: Pack) -> Access<role::StorageRead> {
        let target = self.pack(pack);
        self.touch(target, Use::StorageRead)
    }

    /// Changes `buffer` in place in a shader and returns the value that this leaves.
    ///
    /// Readers of `buffer` run before this pass, readers of the returned value after it. While the pass is
    /// disabled, the returned value is `buffer` unchanged.
    pub fn modify(&mut self, buffer: Buffer) -> (Access<role::StorageWrite>, Buffer) {
        let target = self.buffer(buffer);
        let Target::Buffer(previous) = target else {
            return (self.touch(target, Use::StorageWrite), buffer);
        };
        let (pass, next) = (self.pass, self.decl.values.len() as u32);
        let value = &mut self.decl.values[previous as usize];
        let modified = Value {
            label: value.label.clone(),
            writer: Some(pass),
            previous: Some(previous),
            modifier: None,
            exported: false,
            ..*value
        };
        if let Some(first) = value.modifier.replace(pass) {
            let resource = value.label.clone();
            self.two_writers(resource, first);
        }
        self.decl.values.push(modified);
        self.decl.note(("modify", pass, previous));
        let access = self.touch(Target::Buffer(next), Use::StorageWrite);
        (access, Buffer { graph: self.decl.id, index: next })
    }

    /// Reads `texture` in a shader.
    pub fn sampled(&mut self, texture: Texture) -> Access<role::Sampled> {
        let target = self.texture(texture);
        self.touch(target, Use::Sampled)
    }

    /// Reads `texture` in a shader as a storage texture.
    pub fn storage_texture_read(&mut self, texture: Texture) -> Access<role::StorageTextureRead> {
        let target = self.texture(texture);
        self.touch(target, Use::StorageTextureRead)
    }

    /// Fills `texture` completely in a shader, as a storage texture.
    pub fn storage_texture_write(&mut self, texture: Texture) -> Access<role::StorageTextureWrite> {
        let target = self.texture(texture);
        self.attach(target, Use::StorageTextureWrite)
    }

    /// Changes parts of `texture` in a shader, as a storage texture; the rest stays what an earlier pass left.
    pub fn storage_texture_modify(&mut self, texture: Texture) -> Access<role::StorageTextureWrite> {
        let target = self.texture(texture);
        self.attach(target, Use::StorageTextureModify)
    }

    /// Copies out of `texture`.
    pub fn texture_copy_src(&mut self, texture: Texture) -> Access<role::TextureCopySrc> {
        let target = self.texture(texture);
        self.touch(target, Use::TextureCopySrc)
    }

    /// Fills `texture` completely by copies.
    pub fn texture_copy_dst(&mut self, texture: Texture) -> Access<role::TextureCopyDst> {
        let target = self.texture(texture);
        self.attach(target, Use::TextureCopyDst)
    }

    /// Draws into `texture`; `None` draws over what an earlier pass, or the owner of a target, left in it.
    ///
    /// A pass that covers every pixel clears too: there is nothing to draw over in a transient that nobody drew.
    /// The order of these calls is the order of the colour attachments.
    pub fn color(&mut self, texture: Texture, clear: Option<wgpu::Color>) {
        self.color_attachment(texture, clear, None);
    }

    /// Draws into the multisampled `texture` and resolves it into `into`.
    pub fn color_resolve(&mut self, texture: Texture, clear: Option<wgpu::Color>, into: Texture) {
        self.color_attachment(texture, clear, Some(into));
    }

    /// Tests and writes depth in `texture`; `None` keeps what an earlier pass left in it.
    ///
    /// A stencil aspect is cleared to zero or kept with it.
    pub fn depth(&mut self, texture: Texture, clear: Option<f32>) {
        self.depth_attachment(texture, clear, Use::Depth);
    }

    /// Tests depth in `texture` without writing it, so the pass may sample it as well.
    pub fn depth_read(&mut self, texture: Texture) {
        self.depth_attachment(texture, None, Use::DepthRead);
    }

    /// Declares a bind group of accesses that this pass declared, and of objects the graph does not track.
    ///
    /// See [`Group`] for when it is built.
    pub fn bind_group(
        &mut self,
        layout: &wgpu::BindGroupLayout,
        entries: impl IntoIterator<Item = (u32, Bind)>,
    ) -> Group {
        let entries = entries.into_iter().collect::<smallvec::SmallVec<_>>();
        for (_, bind) in &entries {
            self.check_bind(bind);
        }
        let index = self.decl.groups.len() as u32;
        self.decl.note(("group", self.pass, entries.len()));
        self.decl.groups.push(GroupDecl { pass: self.pass, layout: layout.clone(), entries });
        Group { graph: self.decl.id, pass: self.pass, index }
    }

    /// Keeps the pass even when nothing reads what it writes.
    pub fn keep(&mut self) {
        self.decl.passes[self.pass as usize].keep = true;
        self.decl.note(("keep", self.pass));
    }

    fn touch<R>(&mut self, target: Target, usage: Use) -> Access<R> {
        if target != Target::Unknown {
            self.decl.passes[self.pass as usize].uses.push(UseDecl { target, usage });
            self.decl.note((self.pass, target, usage));
        }
        Access::new(self.decl.id, self.pass, target)
    }

    fn write<R>(&mut self, target: Target, usage: Use) -> Access<R> {
        for value in self.decl.touched(target) {
            let value = &mut self.decl.values[value as usize];
            match value.writer {
                None => value.writer = Some(self.pass),
                Some(first) => {
                    let resource = value.label.clone();
                    self.two_writers(resource, first);
                }
            }
        }
        self.touch(target, usage)
    }

    fn color_attachment(&mut self, texture: Texture, clear: Option<wgpu::Color>, into: Option<Texture>) {
        let target = self.texture(texture);
        let resolve = into.map(|into| self.texture(into));
        let _: Access<()> = self.attach(target, Use::Color);
        if let Some(resolve) = resolve {
            let _: Access<()> = self.attach(resolve, Use::Resolve);
        }
        let resolve = resolve.and_then(texture_index);
        if let Some(texture) = texture_index(target) {
            let bits = clear.map(|c| [c.r, c.g, c.b, c.a].map(f64::to_bits));
            self.decl.note(("color", bits, resolve));
            self.decl.passes[self.pass as usize].color.push(ColorDecl { texture, clear, resolve });
        }
    }

    fn depth_attachment(&mut self, texture: Texture, clear: Option<f32>, usage: Use) {
        let target = self.texture(texture);
        let _: Access<()> = self.attach(target, usage);
        if let Some(texture) = texture_index(target) {
            if self.decl.passes[self.pass as usize].depth.is_some() {
                let resource = self.decl.label_of(target);
                self.two_writers(resource, self.pass);
            }
            self.decl.note(("depth", clear.map(f32::to_bits)));
            let read_only = usage == Use::DepthRead;
            self.decl.passes[self.pass as usize].depth = Some(DepthDecl { texture, clear, read_only });
        }
    }

    /// Declares a write; one texture is written in one way by a pass.
    fn attach<R>(&mut self, target: Target, usage: Use) -> Access<R> {
        let uses = &self.decl.passes[self.pass as usize].uses;
        if usage.writes() && uses.iter().any(|u| u.target == target && u.usage.writes()) {
            let resource = self.decl.label_of(target);
            self.two_writers(resource, self.pass);
        }
        self.touch(target, usage)
    }

    fn check_bind(&mut self, bind: &Bind) {
        let BindKind::Access { graph, pass, target } = bind.0 else { return };
        if graph != self.decl.id {
            self.foreign("access");
        } else if pass != self.pass && target != Target::Unknown {
            let (pass, owner) = (self.decl.pass_label(self.pass), self.decl.pass_label(pass));
            self.decl.errors.push(GraphError::ForeignAccess { pass, owner });
        }
    }

    fn buffer(&mut self, buffer: Buffer) -> Target {
        let known = self.known(buffer.graph, buffer.index, self.decl.values.len(), "buffer");
        if known { Target::Buffer(buffer.index) } else { Target::Unknown }
    }

    fn pack(&mut self, pack: Pack) -> Target {
        let known = self.known(pack.graph, pack.index, self.decl.packs.len(), "pack");
        if known { Target::Pack(pack.index) } else { Target::Unknown }
    }

    fn texture(&mut self, texture: Texture) -> Target {
        let known = self.known(texture.graph, texture.index, self.decl.textures.len(), "texture");
        if known { Target::Texture(texture.index) } else { Target::Unknown }
    }

    fn known(&mut self, graph: GraphId, index: u32, count: usize, kind: &'static str) -> bool {
        let known = graph == self.decl.id && (index as usize) < count;
        if !known {
            self.foreign(kind);
        }
        known
    }

    fn foreign(&mut self, kind: &'static str) {
        let place = format!("pass `{}`", self.decl.passes[self.pass as usize].label);
        self.decl.errors.push(GraphError::ForeignHandle { place: place.into(), kind });
    }

    fn two_writers(&mut self, resource: Label, first: u32) {
        let (first, second) = (self.decl.pass_label(first), self.decl.pass_label(self.pass));
        self.decl.errors.push(GraphError::TwoWriters { resource, first, second });
    }
}

fn texture_index(target: Target) -> Option<u32> {
    match target {
        Target::Texture(texture) => Some(texture),
        _ => None,
    }
}
