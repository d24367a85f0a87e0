use crate::{
    access::Target,
    decl::{Declarations, Home, Side, TextureDecl},
    plan::{KeptPlace, KeptTexture, PlannedTexture, TexturePlace, TextureSlot},
};

pub(super) struct Slots {
    pub(super) textures: Vec<PlannedTexture>,
    pub(super) slots: Vec<TextureSlot>,
    /// By kept texture, if the plan uses it.
    pub(super) kept: Vec<Option<KeptTexture>>,
}

struct Life {
    texture: usize,
    first: u32,
    last: u32,
    usage: wgpu::TextureUsages,
}

/// A slot per descriptor and usage, taken over by the next texture once its last user has run.
pub(super) fn slots(decl: &Declarations, order: &[u32], memoryless: &[bool]) -> Slots {
    let unused = |texture: &TextureDecl| PlannedTexture {
        label: texture.label.clone(),
        desc: texture.desc,
        first: 0,
        last: 0,
        place: TexturePlace::Unused,
    };
    let mut textures: Vec<_> = decl.textures.iter().map(unused).collect();
    let mut slots: Vec<TextureSlot> = Vec::new();
    let mut free_after: Vec<u32> = Vec::new();
    let mut lives = lives(decl, order);
    lives.sort_by_key(|life| life.first);
    let mut kept = vec![None; decl.kept_textures.len()];
    let kept_usage = kept_usage(decl);

    for Life { texture, first, last, usage } in lives {
        let desc = decl.textures[texture].desc;
        let place = match decl.textures[texture].home {
            Home::External(()) => TexturePlace::Target,
            Home::Kept(index, side) => {
                let slot = TextureSlot { desc, usage: kept_usage[index as usize], memoryless: false };
                let is_history = decl.kept_textures[index as usize].previous.is_some();
                kept[index as usize] = Some(KeptTexture { slot, is_history });
                TexturePlace::Kept(KeptPlace { index, is_previous: side == Side::Previous })
            }
            Home::Transient => {
                let wanted = TextureSlot { desc, usage, memoryless: memoryless[texture] };
                let mut free = slots.iter().zip(&free_after);
                let free = free.position(|(slot, end)| *slot == wanted && *end < first);
                let slot = free.unwrap_or_else(|| {
                    slots.push(wanted);
                    free_after.push(0);
                    slots.len() - 1
                });
                free_after[slot] = last;
                TexturePlace::Slot(slot as u32)
            }
        };
        textures[texture] = PlannedTexture { first, last, place, ..unused(&decl.textures[texture]) };
    }
    Slots { textures, slots, kept }
}

/// By kept texture: everything that both of its sides are ever used for.
fn kept_usage(decl: &Declarations) -> Vec<wgpu::TextureUsages> {
    let mut usage = vec![wgpu::TextureUsages::empty(); decl.kept_textures.len()];
    if usage.is_empty() {
        return usage;
    }
    for u in decl.passes.iter().flat_map(|pass| &pass.uses) {
        let Target::Texture(texture) = u.target else { continue };
        if let Home::Kept(kept, _) = decl.textures[texture as usize].home {
            usage[kept as usize] |= u.usage.texture_usage();
        }
    }
    usage
}

fn lives(decl: &Declarations, order: &[u32]) -> Vec<Life> {
    let mut lives: Vec<Option<Life>> = decl.textures.iter().map(|_| None).collect();
    for (at, &pass) in order.iter().enumerate() {
        for u in &decl.passes[pass as usize].uses {
            let Target::Texture(texture) = u.target else { continue };
            let (texture, at) = (texture as usize, at as u32);
            let start = Life { texture, first: at, last: at, usage: wgpu::TextureUsages::empty() };
            let life = lives[texture].get_or_insert(start);
            life.last = at;
            life.usage |= u.usage.texture_usage();
        }
    }
    lives.into_iter().flatten().collect()
}
