// Unit vectors in 2x16 bits: sources are stereographic, which takes the fewest instructions to decode, outputs
// octahedral (Cigolle et al., "A Survey of Efficient Representations for Independent Unit Vectors", 2014), which takes
// the fewest to encode. Further 16-bit weights and 16-bit deltas. The kernel is bound by instructions, so directions
// are neither scaled nor normalised where the next step divides anyway.

fn with_sign(magnitude: f32, sign: f32) -> f32 {
    return bitcast<f32>((bitcast<u32>(magnitude) & 0x7fffffffu) | (bitcast<u32>(sign) & 0x80000000u));
}

// Negative where only one is.
fn flipped(value: f32, sign: f32) -> f32 {
    return bitcast<f32>(bitcast<u32>(value) ^ (bitcast<u32>(sign) & 0x80000000u));
}

// Both halves as integers from -32768 to 32767.
fn unpack_signed(word: u32) -> vec2<f32> {
    return vec2<f32>(f32(bitcast<i32>(word << 16u) >> 16u), f32(bitcast<i32>(word) >> 16u));
}

// Both halves as integers up to 65535.
fn unpack_unsigned(word: u32) -> vec2<f32> {
    return vec2<f32>(f32(word & 0xffffu), f32(word >> 16u));
}

// A direction, 16383.5 to 32767 long: where the line from the opposite pole meets the plane z = 0, in steps. It lies
// below the plane if the highest bit of `below` is set.
fn stereo_decode_unscaled(word: u32, below: u32) -> vec3<f32> {
    let f = unpack_signed(word);
    let z = 16383.5 - (f.x * f.x + f.y * f.y) * (0.5 / 32767.0);
    return vec3<f32>(f, flipped(z, bitcast<f32>(below)));
}

fn oct_decode(word: u32) -> vec3<f32> {
    let f = unpack_signed(word);
    let z = 32767.0 - abs(f.x) - abs(f.y);
    let fold = max(-z, 0.0);
    return normalize(vec3<f32>(f.x - with_sign(fold, f.x), f.y - with_sign(fold, f.y), z));
}

// Shorter than directions are. With it added to z, a vector that vanishes is encoded as +z.
const TINY: f32 = 1e-30;

fn oct_sum(v: vec3<f32>) -> f32 {
    return abs(v.x) + abs(v.y) + abs(v.z);
}

// Coordinates of `v` times `oct_sum(v)`. Below the plane z = 0 the corners are folded out: the sum less the one
// magnitude is what the other and z leave.
fn oct_fold(v: vec3<f32>) -> vec2<f32> {
    let fold = max(-v.z, 0.0);
    return vec2<f32>(v.x + with_sign(fold, v.x), v.y + with_sign(fold, v.y));
}

// Adding 1.5 * 2^23 leaves the nearest integer in the low bits of the significand. What is added comes from a product:
// compilers add up sums in another order, which rounds twice, and at an edge a step too far is on the other side.
const NEAREST: f32 = 12582912.0;

// Of any length but zero, and reversed where `sign` is negative.
fn oct_encode(v: vec3<f32>, sign: f32) -> u32 {
    let scale = with_sign(32767.0 / oct_sum(v), sign);
    let p = oct_fold(vec3<f32>(v.xy, flipped(v.z, sign))) * scale + NEAREST;
    return (bitcast<u32>(p.x) & 0xffffu) | (bitcast<u32>(p.y) << 16u);
}

// A tangent's handedness is the lowest bit of y, set for -1: y is the nearest integer that is odd or even with it.
const HANDEDNESS: u32 = 0x10000u;

// Less than 32767 by more than rounding: the even number next to it is below it.
const SIGNED_STEPS: f32 = 32766.97;

// Adding 1.5 * 2^17 leaves the nearest 64th in the low bits.
const NEAREST_64TH: f32 = 196608.0;

// With the handedness of another word, or one like it.
fn oct_encode_signed(v: vec3<f32>, word: u32) -> u32 {
    let p = oct_fold(v);
    let scale = SIGNED_STEPS / oct_sum(v);
    let odd = word & HANDEDNESS;
    let y = (bitcast<u32>(p.y * scale + NEAREST_64TH) << 10u) + (odd ^ HANDEDNESS);
    return (bitcast<u32>(p.x * scale + NEAREST) & 0xffffu) | (y & 0xfffe0000u) | odd;
}

fn oct_sign(word: u32) -> f32 {
    return select(1.0, -1.0, (word & HANDEDNESS) != 0u);
}
