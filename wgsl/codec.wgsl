// Octahedral unit vectors in two 16-bit halves.

fn oct_decode(packed: u32) -> vec3f {
    let e = unpack2x16snorm(packed);
    let v = vec3f(e, 1.0 - abs(e.x) - abs(e.y));
    let t = max(-v.z, 0.0);
    return normalize(vec3f(v.xy - select(vec2f(-t), vec2f(t), v.xy >= vec2f()), v.z));
}
