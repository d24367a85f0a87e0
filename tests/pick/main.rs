//! Rays against deformed surfaces, beside a search of all triangles.
#![cfg(all(feature = "gltf", feature = "meshopt", feature = "gpu"))]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "in a helper too, a failure fails the test"
)]

#[path = "../common/mod.rs"]
mod common;
mod hits;
mod search;

use common::tube;
use glam::{Affine3A, Vec3};
use sinew::{
    CpuDeformer, InstanceId, Model, Precision,
    model::{Material, Mesh, ModelDesc, Node, Part, PrimitiveDesc, Skeleton, Topology, Transform},
    pick::{Hit, PickOptions, Picker, Ray},
};

/// One instance, deformed on the CPU, and its picker.
struct Stage {
    deformer: CpuDeformer,
    id: InstanceId,
    picker: Picker,
}

impl Stage {
    fn new(model: &Model) -> Self {
        let mut deformer = CpuDeformer::new();
        let handle = deformer.add_model(model, Precision::Exact).unwrap();
        let id = deformer.spawn(handle).unwrap();
        let mut stage = Self { deformer, id, picker: Picker::new(model).unwrap() };
        stage.pose();
        stage
    }

    fn pose(&mut self) {
        self.deformer.run().unwrap();
        self.picker.refit(&self.deformer, self.id).unwrap();
    }

    fn place(&mut self, transform: Affine3A) {
        self.deformer.animator_mut().set_transform(self.id, transform).unwrap();
    }

    fn nearest_with(&self, ray: Ray, options: &PickOptions<'_>) -> Option<Hit> {
        self.picker.nearest(self.deformer.animator(), ray, options).unwrap()
    }

    fn nearest(&self, ray: Ray) -> Option<Hit> {
        self.nearest_with(ray, &PickOptions::default())
    }

    fn is_hit(&self, ray: Ray) -> bool {
        self.picker.is_hit(self.deformer.animator(), ray, &PickOptions::default()).unwrap()
    }

    fn triangles(&self) -> Vec<search::Placed> {
        let transform = self.deformer.animator().draw_transform(self.id).unwrap();
        search::placed(self.picker.model(), transform, &self.deformer.bake(self.id).unwrap())
    }
}

fn v(x: f32, y: f32, z: f32) -> Vec3 {
    Vec3::new(x, y, z)
}

fn ray(origin: Vec3, direction: Vec3) -> Ray {
    Ray::new(origin, direction).unwrap()
}

/// Rigid meshes at nodes.
fn model_of(meshes: Vec<(Transform, Vec<PrimitiveDesc>)>, materials: Vec<Material>) -> Model {
    let nodes = meshes.iter().map(|(rest, _)| Node { rest: *rest, ..Node::default() }).collect();
    let part = |at: usize| Part { node: at as u32, mesh: at as u32, skin: None, weights: Vec::new() };
    Model::new(ModelDesc {
        skeleton: Skeleton::new(nodes).unwrap(),
        parts: (0..meshes.len()).map(part).collect(),
        meshes: meshes.into_iter().map(|(_, list)| Mesh::new("mesh", list, Vec::new()).unwrap()).collect(),
        materials,
        ..ModelDesc::default()
    })
    .unwrap()
}

fn list(positions: Vec<Vec3>, indices: Option<Vec<u32>>) -> PrimitiveDesc {
    PrimitiveDesc { positions, indices, ..PrimitiveDesc::default() }
}

fn flat(primitives: Vec<PrimitiveDesc>) -> Model {
    model_of(vec![(Transform::IDENTITY, primitives)], Vec::new())
}

/// A right triangle in the plane z = 0, its front towards +z.
fn triangle() -> PrimitiveDesc {
    list(vec![v(0.0, 0.0, 0.0), v(1.0, 0.0, 0.0), v(0.0, 1.0, 0.0)], None)
}
