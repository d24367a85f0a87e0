use std::cell::Cell;

use crate::{
    access::{Access, Target},
    handle::{Buffer, GraphId, Group, Texture},
    role::{self, BufferRole, TextureRole},
    runtime::{
        kept::{has_previous, texture_has_previous},
        prepare::{Bytes, Prepared, Scope},
        void::{Objects, Void},
    },
};

/// Turns what a pass declared into wgpu objects while it is recorded.
///
/// What the pass did not declare resolves to an empty stand-in, and the run ends with
/// [`RunError::Undeclared`](crate::RunError::Undeclared).
pub struct Resources<'a> {
    pub(crate) scope: Scope<'a>,
    pub(crate) prepared: &'a Prepared,
    pub(crate) void: &'a Void,
    pub(crate) pass: u32,
    pub(crate) dispatches: Cell<u64>,
    pub(crate) draws: Cell<u64>,
    /// The kind of the first key that did not resolve.
    pub(crate) undeclared: Cell<Option<&'static str>>,
}

impl<'a> Resources<'a> {
    /// The bind group; see [`Group`].
    pub fn group(&self, group: Group) -> &'a wgpu::BindGroup {
        let groups = self.is_own(group.graph, group.pass).then_some(&self.prepared.groups);
        let built = groups.and_then(|groups| groups.get(group.index as usize)?.as_ref()?.group());
        built.unwrap_or_else(|| &self.miss("a group").group)
    }

    /// The bytes to set as a vertex buffer.
    pub fn vertex(&self, access: Access<role::Vertex>) -> wgpu::BufferSlice<'a> {
        self.slice(access)
    }

    /// The bytes to set as an index buffer.
    pub fn index(&self, access: Access<role::Index>) -> wgpu::BufferSlice<'a> {
        self.slice(access)
    }

    /// The buffer and byte offset of the arguments of a draw or dispatch.
    pub fn indirect(&self, access: Access<role::Indirect>) -> (&'a wgpu::Buffer, u64) {
        let slice = self.slice(access);
        (slice.buffer(), slice.offset())
    }

    /// Buffer, offset and size behind an access in any role, for copies and bind groups of your own.
    pub fn binding<R: BufferRole>(&self, access: Access<R>) -> wgpu::BufferBinding<'a> {
        match self.range(access) {
            Some(range) => range.binding(),
            None => self.miss("an access").buffer.as_entire_buffer_binding(),
        }
    }

    /// The view to bind of a texture.
    pub fn view<R: TextureRole>(&self, access: Access<R>) -> &'a wgpu::TextureView {
        let view = match access.target {
            Target::Texture(texture) if self.is_own(access.graph, access.pass) => {
                self.prepared.sampled(texture, self.scope)
            }
            _ => None,
        };
        view.unwrap_or_else(|| &self.miss("an access").view)
    }

    /// The texture itself, for copies.
    pub fn texture<R: TextureRole>(&self, access: Access<R>) -> &'a wgpu::Texture {
        self.view(access).texture()
    }

    /// Whether the plan gives `buffer` memory; see [`Plan::is_live`](crate::Plan::is_live).
    pub fn is_live(&self, buffer: Buffer) -> bool {
        self.scope.plan.is_live(buffer)
    }

    /// Whether an earlier run filled the persistent or history resource that `value` belongs to; before that it
    /// holds zeros. False for any other buffer.
    pub fn has_previous(&self, value: Buffer) -> bool {
        has_previous(self.scope.kept, self.scope.plan, value)
    }

    /// As [`has_previous`](Self::has_previous), for a texture.
    pub fn texture_has_previous(&self, texture: Texture) -> bool {
        texture_has_previous(self.scope.kept, self.scope.plan, texture)
    }

    /// Adds to the number of dispatches that the pass's span shows.
    pub fn count_dispatches(&self, count: u64) {
        self.dispatches.set(self.dispatches.get().saturating_add(count));
    }

    /// Adds to the number of draws that the pass's span shows.
    pub fn count_draws(&self, count: u64) {
        self.draws.set(self.draws.get().saturating_add(count));
    }

    fn slice<R>(&self, access: Access<R>) -> wgpu::BufferSlice<'a> {
        match self.range(access) {
            Some(range) => range.slice(),
            None => self.miss("an access").buffer.slice(..),
        }
    }

    fn range<R>(&self, access: Access<R>) -> Option<Bytes<'a>> {
        let prepared = self.is_own(access.graph, access.pass).then_some(self.prepared);
        prepared.and_then(|prepared| prepared.bytes(access.target, self.scope.kept))
    }

    fn is_own(&self, graph: GraphId, pass: u32) -> bool {
        graph == self.scope.plan.graph && pass == self.pass
    }

    /// Notes the mistake and returns the stand-ins.
    fn miss(&self, kind: &'static str) -> &'a Objects {
        self.undeclared.set(self.undeclared.get().or(Some(kind)));
        self.void.objects()
    }
}
