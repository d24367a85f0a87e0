use crate::{
    access::{Access, Target},
    handle::Buffer,
    plan::{PlannedPass, UploadBlock},
    role,
    runtime::{kept::has_previous, prepare::Scope},
    upload::{Continuity, RunId},
};

/// What a host pass may do: fill its upload blocks, and ask the plan what is worth filling.
pub struct Host<'a> {
    pub(crate) scope: Scope<'a>,
    pub(crate) pass: &'a PlannedPass,
    pub(crate) continuity: &'a Continuity,
    pub(crate) number: u64,
    /// The mapped staging memory of the whole run.
    pub(crate) bytes: wgpu::WriteOnly<'a, [u8]>,
    /// By block of this pass: the bytes to copy.
    pub(crate) used: &'a mut [u64],
    pub(crate) undeclared: bool,
    pub(crate) failure: Option<String>,
}

impl Host<'_> {
    /// Memory of one upload block, all of it copied to the GPU unless [`set_used`](Self::set_used) says less.
    ///
    /// It is mapped memory: write it once, in order, and do not expect earlier contents. Empty for an access
    /// that this pass did not declare (a slice of it panics, as one of any empty slice does); the run then ends
    /// with [`RunError::Undeclared`](crate::RunError::Undeclared).
    pub fn write(&mut self, access: Access<role::Upload>) -> wgpu::WriteOnly<'_, [u8]> {
        let [block] = self.write_all([access]);
        block
    }

    /// Memory of several blocks at once, as [`write`](Self::write) for each. A block that is named twice is
    /// empty the second time, and a mistake like one that was not declared.
    pub fn write_all<const N: usize>(
        &mut self,
        accesses: [Access<role::Upload>; N],
    ) -> [wgpu::WriteOnly<'_, [u8]>; N] {
        let mut blocks: [(Option<UploadBlock>, usize); N] =
            std::array::from_fn(|at| (self.claim(accesses[at]), at));
        blocks.sort_unstable_by_key(|(block, at)| (block.map(|block| block.offset), *at));
        let mut memory = std::array::from_fn(|_| wgpu::WriteOnly::default());
        let mut rest = self.bytes.slice(..);
        let mut done = 0;
        for (block, at) in blocks {
            let Some(UploadBlock { offset, size, .. }) = block else { continue };
            let Some(skipped) = (offset as usize).checked_sub(done) else {
                self.undeclared = true;
                continue;
            };
            let (_, from_block) = rest.split_at(skipped);
            (memory[at], rest) = from_block.split_at(size as usize);
            done = (offset + size) as usize;
        }
        memory
    }

    /// Says that only the first `bytes` of a block were written, rounded up to a multiple of 4; only they
    /// are copied, and the rest of the buffer is undefined this frame.
    pub fn set_used(&mut self, access: Access<role::Upload>, bytes: u64) {
        if let Some((at, block)) = self.find(access) {
            self.used[at] = bytes.min(block.size).next_multiple_of(4).min(block.size);
        }
    }

    /// Says that the pass could not do its work: the run ends with
    /// [`RunError::HostFailed`](crate::RunError::HostFailed). Of several failures the first is kept.
    pub fn fail(&mut self, reason: impl std::fmt::Display) {
        self.failure.get_or_insert_with(|| reason.to_string());
    }

    /// Whether the plan gives `buffer` memory; see [`Plan::is_live`](crate::Plan::is_live).
    pub fn is_live(&self, buffer: Buffer) -> bool {
        self.scope.plan.is_live(buffer)
    }

    /// Whether an earlier run filled what `value` belongs to; see
    /// [`Resources::has_previous`](crate::Resources::has_previous).
    pub fn has_previous(&self, value: Buffer) -> bool {
        has_previous(self.scope.kept, self.scope.plan, value)
    }

    /// Equal to that of an earlier run if the runtime is the same and no encoder of a run was dropped meanwhile: what
    /// that run had the GPU write is still there, as far as the GPU keeps it.
    pub fn continuity(&self) -> &Continuity {
        self.continuity
    }

    /// Which run this is: what is to be done once a run, whichever pass comes first, can be remembered by it.
    pub fn run(&self) -> RunId {
        self.continuity.run(self.number)
    }

    /// Bytes from the start of its pack's range to a live member; see
    /// [`Plan::offset_in_pack`](crate::Plan::offset_in_pack).
    pub fn offset_in_pack(&self, buffer: Buffer) -> Option<u64> {
        self.scope.plan.offset_in_pack(buffer)
    }

    /// The block of `access`, from now on copied whole.
    fn claim(&mut self, access: Access<role::Upload>) -> Option<UploadBlock> {
        let (at, block) = self.find(access)?;
        self.used[at] = block.size;
        Some(block)
    }

    fn find(&mut self, access: Access<role::Upload>) -> Option<(usize, UploadBlock)> {
        let is_own = access.graph == self.scope.plan.graph && access.pass == self.pass.declared;
        let mut blocks = self.pass.uploads.iter().enumerate();
        let found = blocks.find(|(_, block)| is_own && access.target == Target::Buffer(block.value));
        self.undeclared |= found.is_none();
        found.map(|(at, block)| (at, *block))
    }
}
