use super::{layout::VARIANTS, source::Precision};
use crate::model::InfluenceClass;

/// One compiled form of the deform kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Variant {
    /// How many influences.
    pub class: InfluenceClass,
    /// How vertices are kept.
    pub precision: Precision,
    /// Whether morph targets are applied.
    pub morph: bool,
}

impl Variant {
    /// Place in the shader table and in a frame block's headers.
    #[must_use]
    pub fn index(self) -> usize {
        let class = CLASSES.iter().position(|class| *class == self.class).unwrap_or_default();
        class * 4 + usize::from(self.precision == Precision::Exact) * 2 + usize::from(self.morph)
    }

    /// The inverse of [`Variant::index`], modulo [`VARIANTS`].
    #[must_use]
    pub fn from_index(index: usize) -> Self {
        let precision = if index & 2 != 0 { Precision::Exact } else { Precision::Packed };
        Self { class: CLASSES[(index / 4) % CLASSES.len()], precision, morph: index & 1 != 0 }
    }
}

const CLASSES: [InfluenceClass; VARIANTS / 4] = [
    InfluenceClass::One,
    InfluenceClass::Two,
    InfluenceClass::Four,
    InfluenceClass::Eight,
    InfluenceClass::Any,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_index_names_one_variant() {
        for index in 0..VARIANTS {
            assert_eq!(Variant::from_index(index).index(), index);
        }
    }
}
