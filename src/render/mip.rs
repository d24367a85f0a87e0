//! Mip chains by box filter, in linear light.

use std::sync::LazyLock;

/// How the bytes of an image encode colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ColorSpace {
    /// Red, green and blue by the sRGB curve, alpha linear.
    Srgb,
    /// Linear.
    Linear,
}

/// RGBA, 8 bits each, rows from the top.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Level {
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) texels: Vec<u8>,
}

/// The image and all smaller levels down to one texel. Levels larger than `limit` along a side are left
/// out, so the first one fits a texture of the device.
pub(crate) fn mip_chain(image: Level, space: ColorSpace, limit: u32) -> Vec<Level> {
    let fits = |width: u32, height: u32| width <= limit && height <= limit;
    let (mut width, mut height) = (image.width, image.height);
    // Kept as f32, so that rounding does not add up from level to level.
    let mut linear = if (width, height) == (1, 1) { Vec::new() } else { decode(&image.texels, space) };
    let mut levels = Vec::new();
    if fits(width, height) {
        levels.push(image);
    }
    while (width, height) != (1, 1) {
        let (next_width, next_height) = ((width / 2).max(1), (height / 2).max(1));
        linear = halve(&linear, width as usize, height as usize, next_width as usize, next_height as usize);
        (width, height) = (next_width, next_height);
        if fits(width, height) {
            levels.push(Level { width, height, texels: encode(&linear, space) });
        }
    }
    levels
}

/// Each texel is the mean of the area it covers; odd sizes give the texels between two areas to both.
fn halve(from: &[[f32; 4]], width: usize, height: usize, to_width: usize, to_height: usize) -> Vec<[f32; 4]> {
    let columns = spans(width, to_width);
    let rows = spans(height, to_height);
    let mut out = Vec::with_capacity(to_width * to_height);
    for row in &rows {
        for column in &columns {
            let mut sum = [0.0f32; 4];
            for (y, weight_y) in row.taps() {
                for (x, weight_x) in column.taps() {
                    let weight = weight_x * weight_y;
                    let texel = from[y * width + x];
                    sum.iter_mut().zip(texel).for_each(|(s, t)| *s += t * weight);
                }
            }
            out.push(sum);
        }
    }
    out
}

/// Up to three neighbouring texels and their shares, which sum to 1.
struct Span {
    first: usize,
    weights: [f32; 3],
}

impl Span {
    fn taps(&self) -> impl Iterator<Item = (usize, f32)> + '_ {
        let taps = self.weights.iter().enumerate().filter(|(_, weight)| **weight > 0.0);
        taps.map(|(at, weight)| (self.first + at, *weight))
    }
}

fn spans(from: usize, to: usize) -> Vec<Span> {
    let scale = from as f32 / to as f32;
    let span = |i: usize| {
        let (start, end) = (i as f32 * scale, (i + 1) as f32 * scale);
        let first = (start as usize).min(from - 1);
        let weights = std::array::from_fn(|tap| {
            let texel = first + tap;
            let covered = end.min((texel + 1) as f32) - start.max(texel as f32);
            if texel < from && covered > 1e-4 { covered / scale } else { 0.0 }
        });
        Span { first, weights }
    };
    (0..to).map(span).collect()
}

fn decode(texels: &[u8], space: ColorSpace) -> Vec<[f32; 4]> {
    let straight = |byte: u8| f32::from(byte) / 255.0;
    let color = |byte: u8| if space == ColorSpace::Srgb { TO_LINEAR[byte as usize] } else { straight(byte) };
    let texel = |t: &[u8]| [color(t[0]), color(t[1]), color(t[2]), straight(t[3])];
    texels.chunks_exact(4).map(texel).collect()
}

fn encode(linear: &[[f32; 4]], space: ColorSpace) -> Vec<u8> {
    let straight = |value: f32| (value.clamp(0.0, 1.0) * 255.0 + 0.5) as u8;
    let color = |value: f32| match space {
        ColorSpace::Srgb => straight(linear_to_srgb(value)),
        ColorSpace::Linear => straight(value),
    };
    linear.iter().flat_map(|t| [color(t[0]), color(t[1]), color(t[2]), straight(t[3])]).collect()
}

static TO_LINEAR: LazyLock<[f32; 256]> =
    LazyLock::new(|| std::array::from_fn(|byte| srgb_to_linear(byte as f32 / 255.0)));

/// IEC 61966-2-1, 0..=1.
pub(crate) fn srgb_to_linear(encoded: f32) -> f32 {
    if encoded <= 0.04045 { encoded / 12.92 } else { ((encoded + 0.055) / 1.055).powf(2.4) }
}

fn linear_to_srgb(linear: f32) -> f32 {
    if linear <= 0.003_130_8 { linear * 12.92 } else { 1.055 * linear.powf(1.0 / 2.4) - 0.055 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checker(width: u32, height: u32) -> Level {
        let texel =
            |i: u32| if (i % width + i / width).is_multiple_of(2) { [255; 4] } else { [0, 0, 0, 255] };
        Level { width, height, texels: (0..width * height).flat_map(texel).collect() }
    }

    #[test]
    fn a_white_and_black_checker_averages_to_half_the_light() {
        let levels = mip_chain(checker(8, 8), ColorSpace::Srgb, 8192);
        assert_eq!(levels.len(), 4);
        for level in &levels[1..] {
            assert!(level.texels.chunks(4).all(|t| t == [188, 188, 188, 255]), "{level:?}");
        }
        let levels = mip_chain(checker(8, 8), ColorSpace::Linear, 8192);
        assert_eq!(levels[3].texels, [128, 128, 128, 255]);
    }

    #[test]
    fn every_level_halves_down_to_one_texel() {
        let sizes = |w, h| -> Vec<_> {
            let image = Level { width: w, height: h, texels: vec![7; (w * h * 4) as usize] };
            mip_chain(image, ColorSpace::Srgb, 8192).iter().map(|l| (l.width, l.height)).collect()
        };
        assert_eq!(sizes(1, 1), [(1, 1)]);
        assert_eq!(sizes(5, 3), [(5, 3), (2, 1), (1, 1)]);
        assert_eq!(sizes(8, 1), [(8, 1), (4, 1), (2, 1), (1, 1)]);
    }

    #[test]
    fn a_single_colour_stays_the_same_at_odd_sizes() {
        for space in [ColorSpace::Srgb, ColorSpace::Linear] {
            let texels = [10, 100, 200, 77].repeat(7 * 5);
            for level in mip_chain(Level { width: 7, height: 5, texels }, space, 8192) {
                assert!(level.texels.chunks(4).all(|t| t == [10, 100, 200, 77]), "{space:?} {level:?}");
            }
        }
    }

    #[test]
    fn levels_over_the_limit_are_left_out() {
        let levels = mip_chain(checker(16, 2), ColorSpace::Linear, 4);
        assert_eq!(levels.iter().map(|l| (l.width, l.height)).collect::<Vec<_>>(), [(4, 1), (2, 1), (1, 1)]);
    }
}
