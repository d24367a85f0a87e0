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

// `v` of any length, reversed where `scale` is negative: 32767 or its negative. A vector that vanishes becomes +z.
fn oct_encode(v: vec3<f32>, scale: f32) -> u32 {
    let p = v * (scale / max(abs(v.x) + abs(v.y) + abs(v.z), 1e-30));
    // Below, both coordinates move out by |z|.
    let fold = max(-p.z, 0.0);
    // Adding 1.5 * 2^23 leaves the nearest integer in the low bits of the significand.
    let x = p.x + with_sign(fold, p.x) + 12582912.0;
    let y = p.y + with_sign(fold, p.y) + 12582912.0;
    return (bitcast<u32>(x) & 0xffffu) | (bitcast<u32>(y) << 16u);
}

// A tangent's handedness is the lowest bit of y.
const HANDEDNESS: u32 = 0x10000u;

fn oct_sign(word: u32) -> f32 {
    return select(1.0, -1.0, (word & HANDEDNESS) != 0u);
}
