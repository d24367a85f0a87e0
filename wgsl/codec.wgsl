// Octahedral unit vectors in 2x16 bits (Cigolle et al., "A Survey of Efficient Representations for
// Independent Unit Vectors", 2014), 16-bit weights and 16-bit deltas.
//
// Integers become floats, and floats integers, by their bits: conversions run at a quarter of the rate of
// additions on some hardware, and the kernel is bound by instructions. Adding 2^23 (1.5 * 2^23 for signed
// values) leaves an integer in the low bits of the significand.

fn with_sign(magnitude: f32, sign: f32) -> f32 {
    return bitcast<f32>((bitcast<u32>(magnitude) & 0x7fffffffu) | (bitcast<u32>(sign) & 0x80000000u));
}

// Both halves as integers from -32768 to 32767.
fn unpack_signed(word: u32) -> vec2<f32> {
    let low = bitcast<f32>((word & 0xffffu) ^ 0x4b008000u);
    let high = bitcast<f32>((word >> 16u) ^ 0x4b008000u);
    return vec2<f32>(low, high) - 8421376.0;
}

// Both halves as weights of 1/65535 each.
fn unpack_weights(word: u32) -> vec2<f32> {
    let low = bitcast<f32>((word & 0xffffu) | 0x4b000000u);
    let high = bitcast<f32>((word >> 16u) | 0x4b000000u);
    return (vec2<f32>(low, high) - 8388608.0) * (1.0 / 65535.0);
}

// A direction whose components' magnitudes sum up to 32767.
fn oct_decode_unscaled(word: u32) -> vec3<f32> {
    let f = unpack_signed(word);
    let z = 32767.0 - abs(f.x) - abs(f.y);
    let fold = max(-z, 0.0);
    return vec3<f32>(f.x - with_sign(fold, f.x), f.y - with_sign(fold, f.y), z);
}

fn oct_decode(word: u32) -> vec3<f32> {
    return normalize(oct_decode_unscaled(word));
}

// `v` of any length, reversed where `scale` is negative: 32767 or its negative. `fallback` where `v` has no
// direction.
fn oct_encode(v: vec3<f32>, scale: f32, fallback: u32) -> u32 {
    let sum = abs(v.x) + abs(v.y) + abs(v.z);
    let p = v * (scale / max(sum, 1e-30));
    let is_below = p.z < 0.0;
    let x = select(p.x, with_sign(32767.0 - abs(p.y), p.x), is_below);
    let y = select(p.y, with_sign(32767.0 - abs(p.x), p.y), is_below);
    let word = (bitcast<u32>(x + 12582912.0) & 0xffffu) | (bitcast<u32>(y + 12582912.0) << 16u);
    return select(fallback, word, sum > 1e-30);
}

// A tangent's handedness is the lowest bit of y.
const HANDEDNESS: u32 = 0x10000u;

fn oct_sign(word: u32) -> f32 {
    return select(1.0, -1.0, (word & HANDEDNESS) != 0u);
}
