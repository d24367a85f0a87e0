//! A [`Model`] as Wavefront OBJ.

use std::{collections::HashSet, fmt::Write};

use glam::{Affine3A, Mat3A, Vec3};

use crate::model::{AlphaMode, Material, Model, Primitive, Topology, normal_matrix};

/// Both files of a model in Wavefront's format.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Obj {
    /// Vertices and faces.
    pub obj: String,
    /// Colours; empty where the model has no materials.
    pub mtl: String,
}

impl Model {
    /// Writes the shown parts as Wavefront OBJ, an object each, in model space: positions, normals and the texture
    /// coordinates that the base colour reads, in deformed order, as decimals that read back equal. `mtl_file` is the name that the
    /// file of materials will have beside it; it holds colours (linear), opacity, and roughness and metalness in the
    /// customary `Pr` and `Pm`, no textures.
    ///
    /// OBJ knows neither skins nor targets: parts with a skin stand as they were bound, others at rest. For another
    /// pose, write what `deform::posed_model` makes of it.
    #[must_use]
    pub fn to_obj(&self, mtl_file: &str) -> Obj {
        let mut names = Names::default();
        let materials = (0..).zip(self.materials());
        let materials: Vec<String> =
            materials.map(|(at, material)| names.unique(&material.name, "material", at)).collect();
        let mut writer = Writer::default();
        if !materials.is_empty() {
            writer.line(format_args!("mtllib {}", one_word(mtl_file)));
        }
        let world = self.skeleton().rest_world();
        let mut names = Names::default();
        for &index in self.shown_parts() {
            let part = &self.parts()[index as usize];
            let place = if part.skin.is_some() { Affine3A::IDENTITY } else { world[part.node as usize] };
            let mesh = &self.meshes()[part.mesh as usize];
            let node = &self.skeleton().names()[part.node as usize];
            let name = names.unique(if node.is_empty() { mesh.name() } else { node }, "part", index);
            writer.line(format_args!("o {name}"));
            for primitive in mesh.primitives() {
                let material = primitive.material().map(|material| &self.materials()[material as usize]);
                if let Some(material) = primitive.material() {
                    writer.line(format_args!("usemtl {}", materials[material as usize]));
                }
                let set = material.and_then(|material| material.base_color_texture).map_or(0, |t| t.uv_set);
                writer.primitive(primitive, set, place);
            }
        }
        let mut mtl = String::new();
        self.materials().iter().zip(&materials).for_each(|(m, name)| write_material(&mut mtl, m, name));
        Obj { obj: writer.text, mtl }
    }
}

#[derive(Default)]
struct Writer {
    text: String,
    /// Positions, texture coordinates and normals so far.
    counts: [u32; 3],
}

impl Writer {
    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        // Writing to a string does not fail.
        let _ = writeln!(self.text, "{line}");
    }

    fn primitive(&mut self, primitive: &Primitive, uv_set: u32, place: Affine3A) {
        let uvs = primitive.uv_sets().get(uv_set as usize).map_or(&[][..], Vec::as_slice);
        for position in primitive.positions() {
            let Vec3 { x, y, z } = place.transform_point3(*position);
            self.line(format_args!("v {x} {y} {z}"));
        }
        // Wavefront's images start at the bottom.
        uvs.iter().for_each(|uv| self.line(format_args!("vt {} {}", uv.x, 1.0 - uv.y)));
        for normal in primitive.normals() {
            let Vec3 { x, y, z } = turned(place.matrix3, *normal);
            self.line(format_args!("vn {x} {y} {z}"));
        }
        let [v, vt, vn] = self.counts.map(|count| count + 1);
        let corner = |vertex: u32| match (uvs.is_empty(), primitive.normals().is_empty()) {
            (true, true) => format!("{}", v + vertex),
            (false, true) => format!("{}/{}", v + vertex, vt + vertex),
            (true, false) => format!("{}//{}", v + vertex, vn + vertex),
            (false, false) => format!("{}/{}/{}", v + vertex, vt + vertex, vn + vertex),
        };
        let is_reversed = place.matrix3.determinant() < 0.0;
        for [a, b, c] in primitive.triangles().map(|corners| corners.map(corner)) {
            let (b, c) = if is_reversed { (c, b) } else { (b, c) };
            self.line(format_args!("f {a} {b} {c}"));
        }
        let indices = primitive.indices();
        let lines = match primitive.topology() {
            Topology::Points => {
                indices.iter().for_each(|vertex| self.line(format_args!("p {}", v + vertex)));
                0
            }
            Topology::Lines => 2,
            Topology::LineStrip => 1,
            Topology::Triangles | Topology::TriangleStrip => 0,
        };
        if lines > 0 {
            let ends = indices.windows(2).step_by(lines);
            ends.for_each(|ends| self.line(format_args!("l {} {}", v + ends[0], v + ends[1])));
        }
        let more = [primitive.vertex_count(), uvs.len(), primitive.normals().len()];
        self.counts = std::array::from_fn(|at| self.counts[at] + more[at] as u32);
    }
}

/// Of unit length.
fn turned(m: Mat3A, normal: Vec3) -> Vec3 {
    if m == Mat3A::IDENTITY {
        return normal;
    }
    (normal_matrix(m) * normal).try_normalize().unwrap_or(normal)
}

fn write_material(mtl: &mut String, material: &Material, name: &str) {
    let color = material.base_color;
    let glow = material.emissive * material.emissive_strength;
    let opacity = if material.alpha_mode == AlphaMode::Opaque { 1.0 } else { color.w };
    let _ = writeln!(
        mtl,
        "newmtl {name}\nKd {} {} {}\nKe {} {} {}\nd {opacity}\nPr {}\nPm {}\n",
        color.x, color.y, color.z, glow.x, glow.y, glow.z, material.roughness, material.metallic
    );
}

/// Names that were given.
#[derive(Default)]
struct Names(HashSet<String>);

impl Names {
    /// One word, given to nobody else.
    fn unique(&mut self, name: &str, kind: &str, index: u32) -> String {
        let word = one_word(name);
        let word = if word.is_empty() { format!("{kind}_{index}") } else { word };
        let numbered = (2u32..).map(|number| format!("{word}_{number}"));
        let mut all = std::iter::once(word.clone()).chain(numbered);
        all.find(|name| self.0.insert(name.clone())).unwrap_or(word)
    }
}

/// Readers end a name at a space, and some at a line's end only.
fn one_word(name: &str) -> String {
    name.chars().map(|c| if c.is_whitespace() || c.is_control() { '_' } else { c }).collect()
}
