// Octahedral unit vectors in 2x16 bits (Cigolle et al., "A Survey of Efficient Representations for
// Independent Unit Vectors", 2014), 16-bit weights and 16-bit deltas. The kernel is bound by instructions, so
// directions are neither scaled nor normalised where the next step divides anyway.

fn with_sign(magnitude: f32, sign: f32) -> f32 {
    return bitcast<f32>((bitcast<u32>(magnitude) & 0x7fffffffu) | (bitcast<u32>(sign) & 0x80000000u));
}

// Both halves as integers from -32768 to 32767.
fn unpack_signed(word: u32) -> vec2<f32> {
    return vec2<f32>(f32(bitcast<i32>(word << 16u) >> 16u), f32(bitcast<i32>(word) >> 16u));
}

// Both halves as integers up to 65535.
fn unpack_unsigned(word: u32) -> vec2<f32> {
    return vec2<f32>(f32(word & 0xffffu), f32(word >> 16u));
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

// Coordinates of `v`, of any length, reversed where `scale` is negative: 32767 or its negative. A vector that
// vanishes becomes +z.
fn oct_fold(v: vec3<f32>, scale: f32) -> vec2<f32> {
    let p = v * (scale / max(abs(v.x) + abs(v.y) + abs(v.z), 1e-30));
    // Below, the corners are folded out. Nothing is added last: compilers that add up what follows in another order
    // would round twice, and at an edge a step too far is on the other side.
    let is_below = p.z < 0.0;
    let x = select(p.x, with_sign(32767.0 - abs(p.y), p.x), is_below);
    let y = select(p.y, with_sign(32767.0 - abs(p.x), p.y), is_below);
    return vec2<f32>(x, y);
}

// Adding 1.5 * 2^23 leaves the nearest integer in the low bits of the significand.
const NEAREST: f32 = 12582912.0;

fn oct_encode(v: vec3<f32>, scale: f32) -> u32 {
    let p = oct_fold(v, scale) + NEAREST;
    return (bitcast<u32>(p.x) & 0xffffu) | (bitcast<u32>(p.y) << 16u);
}

// A tangent's handedness is the lowest bit of y, set for -1: y is the nearest integer that is odd or even with it.
const HANDEDNESS: u32 = 0x10000u;

// 131067 quarters: the even number next to 32767 is below it.
const MOST_QUARTERS: u32 = 0x4b41fffbu;

// `odd` is 1 for -1, else 0. It is taken off quarters of steps, in integers: compilers may add up floats in another
// order, and twice rounded is a step off.
fn oct_encode_signed(v: vec3<f32>, odd: u32) -> u32 {
    let p = oct_fold(v, 32767.0);
    let quarters = min(bitcast<u32>(p.y * 4.0 + NEAREST), MOST_QUARTERS);
    let y = ((quarters + 4u - 4u * odd) << 14u) & 0xfffe0000u;
    return (bitcast<u32>(p.x + NEAREST) & 0xffffu) | (odd << 16u) | y;
}

fn oct_sign(word: u32) -> f32 {
    return select(1.0, -1.0, (word & HANDEDNESS) != 0u);
}
