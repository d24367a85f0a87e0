use std::fmt;

use super::{layout::VARIANTS, source::Precision};
use crate::model::{InfluenceClass, Skinning};

/// One compiled form of the deform kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Variant {
    /// How many influences.
    pub class: InfluenceClass,
    /// How they are blended; one influence is not.
    pub skinning: Skinning,
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
        let place = class * 4 + usize::from(self.precision == Precision::Exact) * 2 + usize::from(self.morph);
        match self.skinning {
            Skinning::DualQuaternion if place >= BLENDING => place - BLENDING + LINEAR,
            _ => place,
        }
    }

    /// The inverse of [`Variant::index`], modulo [`VARIANTS`].
    #[must_use]
    pub fn from_index(index: usize) -> Self {
        let precision = if index & 2 != 0 { Precision::Exact } else { Precision::Packed };
        let index = index % VARIANTS;
        let (skinning, place) = match index.checked_sub(LINEAR) {
            Some(place) => (Skinning::DualQuaternion, place + BLENDING),
            None => (Skinning::Linear, index),
        };
        Self { class: CLASSES[place / 4], skinning, precision, morph: index & 1 != 0 }
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let influences = match self.class {
            InfluenceClass::One => "1 influence",
            InfluenceClass::Two => "2 influences",
            InfluenceClass::Four => "4 influences",
            InfluenceClass::Eight => "8 influences",
            InfluenceClass::Any => "any influences",
        };
        let skinning = match self.skinning {
            Skinning::Linear => "linear",
            Skinning::DualQuaternion => "dual quaternions",
        };
        let precision = match self.precision {
            Precision::Packed => "packed",
            Precision::Exact => "exact",
        };
        write!(f, "{influences}, {skinning}, {precision}{}", if self.morph { ", morphed" } else { "" })
    }
}

/// Variants with linear skinning; the others follow.
const LINEAR: usize = 4 * CLASSES.len();
/// The first variant that has something to blend.
const BLENDING: usize = 4;

const CLASSES: [InfluenceClass; 5] = [
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
    fn every_variant_has_a_name_of_its_own() {
        let names: std::collections::HashSet<_> =
            (0..VARIANTS).map(|index| Variant::from_index(index).to_string()).collect();
        assert_eq!(names.len(), VARIANTS);
        assert_eq!(Variant::from_index(9).to_string(), "4 influences, linear, packed, morphed");
    }

    #[test]
    fn one_influence_is_the_same_with_either_skinning() {
        let linear = Variant::from_index(3);
        assert_eq!(linear.class, InfluenceClass::One);
        assert_eq!(Variant { skinning: Skinning::DualQuaternion, ..linear }.index(), 3);
    }

    #[test]
    fn every_index_names_one_variant() {
        for index in 0..VARIANTS {
            assert_eq!(Variant::from_index(index).index(), index);
        }
    }
}
