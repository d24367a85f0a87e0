// Metallic-roughness reflection as in glTF 2.0, appendix B: Lambert and GGX with Smith's height-correlated
// visibility and Schlick's Fresnel. Everything is times pi, so that a white surface that faces a light of 1
// reflects 1.

struct Material {
    diffuse: vec3<f32>,
    f0: vec3<f32>,
    // Perceptual.
    roughness: f32,
}

// What one light of colour 1 in direction `l` sends to `v`.
fn direct(material: Material, n: vec3<f32>, v: vec3<f32>, l: vec3<f32>) -> vec3<f32> {
    let n_l = clamp(dot(n, l), 0.0, 1.0);
    let n_v = max(abs(dot(n, v)), 1e-4);
    let sum = v + l;
    let h = sum * inverseSqrt(max(dot(sum, sum), 1e-12));
    let n_h = clamp(dot(n, h), 0.0, 1.0);
    let v_h = clamp(dot(v, h), 0.0, 1.0);
    let fresnel = material.f0 + (1.0 - material.f0) * pow(1.0 - v_h, 5.0);
    let alpha = material.roughness * material.roughness;
    let a2 = alpha * alpha;
    let d = n_h * n_h * (a2 - 1.0) + 1.0;
    let distribution = a2 / (d * d);
    let mask_v = n_l * sqrt(n_v * n_v * (1.0 - a2) + a2);
    let mask_l = n_v * sqrt(n_l * n_l * (1.0 - a2) + a2);
    let visibility = 0.5 / max(mask_v + mask_l, 1e-6);
    return n_l * ((1.0 - fresnel) * material.diffuse + fresnel * (distribution * visibility));
}

// Light from everywhere, `sky` above and `ground` below. The reflected part uses the fit of the split sum
// by Karis, "Physically Based Shading on Mobile" (2014).
fn ambient(material: Material, n: vec3<f32>, v: vec3<f32>, sky: vec3<f32>, ground: vec3<f32>) -> vec3<f32> {
    let n_v = clamp(dot(n, v), 0.0, 1.0);
    let r = material.roughness * vec4<f32>(-1.0, -0.0275, -0.572, 0.022) + vec4<f32>(1.0, 0.0425, 1.04, -0.04);
    let a = min(r.x * r.x, exp2(-9.28 * n_v)) * r.x + r.y;
    let scale_bias = vec2<f32>(-1.04, 1.04) * a + r.zw;
    let specular = material.f0 * scale_bias.x + scale_bias.y;
    let mirrored = reflect(-v, n);
    let diffuse_light = mix(ground, sky, n.y * 0.5 + 0.5);
    // Rough surfaces gather from all around, smooth ones from one side of the horizon.
    let sharpness = mix(4.0, 1.0, material.roughness);
    let specular_light = mix(ground, sky, clamp(mirrored.y * sharpness * 0.5 + 0.5, 0.0, 1.0));
    return material.diffuse * diffuse_light + specular * specular_light;
}
