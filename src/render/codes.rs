//! Findings of the raster pass, in one table.

use crate::model::codes;

codes! {
    IMAGE_REPLACED "image-replaced" Warning "3.8.3" "An image cannot be decoded or is larger than the device allows; drawn as a checker or scaled down." "Store it as PNG or JPEG of a size that devices take."
}
