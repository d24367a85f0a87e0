use crate::{
    access::Target,
    decl::Declarations,
    plan::{PlannedTexture, TexturePlace, TextureSlot},
};

pub(super) struct Slots {
    pub(super) textures: Vec<PlannedTexture>,
    pub(super) slots: Vec<TextureSlot>,
}

struct Life {
    texture: usize,
    first: u32,
    last: u32,
    usage: wgpu::TextureUsages,
}

/// A slot per descriptor and usage, taken over by the next texture once its last user has run.
pub(super) fn slots(decl: &Declarations, order: &[u32]) -> Slots {
    let unused = |label: &_| PlannedTexture {
        label: Clone::clone(label),
        first: 0,
        last: 0,
        place: TexturePlace::Unused,
    };
    let mut textures: Vec<_> = decl.textures.iter().map(|texture| unused(&texture.label)).collect();
    let mut slots: Vec<TextureSlot> = Vec::new();
    let mut free_after: Vec<u32> = Vec::new();
    let mut lives = lives(decl, order);
    lives.sort_by_key(|life| life.first);

    for Life { texture, first, last, usage } in lives {
        let place = if decl.textures[texture].is_target {
            TexturePlace::Target
        } else {
            let wanted = TextureSlot { desc: decl.textures[texture].desc, usage };
            let free = slots.iter().zip(&free_after).position(|(slot, end)| *slot == wanted && *end < first);
            let slot = free.unwrap_or_else(|| {
                slots.push(wanted);
                free_after.push(0);
                slots.len() - 1
            });
            free_after[slot] = last;
            TexturePlace::Slot(slot as u32)
        };
        textures[texture] = PlannedTexture { first, last, place, ..unused(&decl.textures[texture].label) };
    }
    Slots { textures, slots }
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
