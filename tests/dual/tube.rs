//! A tube whose end is turned by half a turn: linear blending wrings it to a point, dual quaternions keep its volume.

use std::f32::consts::{PI, TAU};

use glam::{DVec3, Mat4, Vec2, Vec3};
use sinew::{
    Model, Precision,
    animate::JointMatrix,
    model::{Influence, Influences, PrimitiveDesc},
};

use super::{
    common::{
        dual::{Joint, blended},
        sides::Sides,
    },
    linear, of_primitive, posed, row,
};

const SIDES: u32 = 48;
/// Even, so that a ring lies in the middle.
const RINGS: u32 = 64;
const RADIUS: f32 = 0.1;
const LENGTH: f32 = 1.0;

/// Along y; the second joint's weight grows from 0 at the bottom to 1 at the top, in whole steps of 1/65535.
fn tube() -> Model {
    let mut positions = Vec::new();
    let mut influences = Influences::default();
    for ring in 0..=RINGS {
        let along = ring as f32 / RINGS as f32;
        let second = (along * 65535.0).round() / 65535.0;
        for side in 0..SIDES {
            let at = Vec2::from_angle(side as f32 / SIDES as f32 * TAU) * RADIUS;
            positions.push(Vec3::new(at.x, along * LENGTH, at.y));
            influences
                .push([(0, 1.0 - second), (1, second)].map(|(joint, weight)| Influence { joint, weight }));
        }
    }
    let normals = positions.iter().map(|p| Vec3::new(p.x, 0.0, p.z).normalize()).collect();
    let primitive = PrimitiveDesc {
        indices: Some(triangles()),
        positions,
        normals,
        influences: Some(influences),
        ..Default::default()
    };
    of_primitive(2, primitive)
}

/// Of the wall, and of both ends.
fn triangles() -> Vec<u32> {
    let at = |ring: u32, side: u32| ring * SIDES + side % SIDES;
    let mut indices = Vec::new();
    for ring in 0..RINGS {
        for side in 0..SIDES {
            let (a, b) = (at(ring, side), at(ring, side + 1));
            let (c, d) = (at(ring + 1, side), at(ring + 1, side + 1));
            indices.extend([a, c, d, a, d, b]);
        }
    }
    for side in 1..SIDES - 1 {
        indices.extend([at(0, 0), at(0, side), at(0, side + 1)]);
        indices.extend([at(RINGS, 0), at(RINGS, side + 1), at(RINGS, side)]);
    }
    indices
}

/// By the divergence theorem.
fn volume(positions: &[DVec3]) -> f64 {
    let corner = |i: u32| positions[i as usize];
    let volume = |t: &[u32]| corner(t[0]).dot(corner(t[1]).cross(corner(t[2]))) / 6.0;
    triangles().chunks_exact(3).map(volume).sum()
}

fn area() -> f64 {
    0.5 * f64::from(SIDES) * f64::from(RADIUS).powi(2) * (std::f64::consts::TAU / f64::from(SIDES)).sin()
}

/// Of a ring of the wall, a prism whose ends are turned against each other by `turn` towards the diagonals' far ends
/// (prismatoid formula; its middle has corners on the edges and on the diagonals).
fn segment(turn: f64) -> f64 {
    let (radius, sides) = (f64::from(RADIUS), f64::from(SIDES));
    let step = std::f64::consts::TAU / sides;
    let middle =
        sides * radius * radius * (turn / 2.0).cos() * ((turn + step) / 2.0).cos() * (step / 2.0).sin();
    f64::from(LENGTH) / f64::from(RINGS) / 6.0 * (2.0 * area() + 4.0 * middle)
}

/// How far dual quaternions turn a ring: the weights are the sides of a right triangle around half of it.
fn turned(ring: u32) -> f64 {
    let second = (f64::from(ring) / f64::from(RINGS) * 65535.0).round() / 65535.0;
    2.0 * second.atan2(1.0 - second)
}

fn twisted() -> [JointMatrix; 2] {
    [Mat4::IDENTITY, Mat4::from_rotation_y(PI)].map(row)
}

#[test]
fn a_twisted_tube_keeps_its_volume_where_linear_blending_loses_two_thirds() {
    let mut sides = Sides::new();
    let rest = area() * f64::from(LENGTH);
    // Rings shrink by 1 - 2 weight; the integral of its square is a third.
    let linear_volume = rest / 3.0;
    // Sides follow y upwards by turning from z to x: against the diagonals, which lead from x to z.
    let dual_volume: f64 = (0..RINGS).map(|ring| segment(turned(ring) - turned(ring + 1))).sum();
    let model = tube();
    for precision in [Precision::Packed, Precision::Exact] {
        let dual = posed(&mut sides, &model, precision, &twisted());
        let linear = posed(&mut sides, &linear(&model), precision, &twisted());
        for (side, (dual, linear)) in ["GPU", "twin"].iter().zip(dual.iter().zip(&linear)) {
            let [dual, linear] = [dual, linear].map(|baked| {
                let positions = &baked[0].vertices.positions;
                volume(&positions.iter().map(|p| p.as_dvec3()).collect::<Vec<_>>()) / rest
            });
            println!(
                "{side}, {precision:?}: of the volume at rest, {dual:.6} with dual quaternions, {linear:.6} linear"
            );
            assert!(
                (dual - dual_volume / rest).abs() < 2e-6,
                "{side}: {dual}, expected {}",
                dual_volume / rest
            );
            assert!((linear - linear_volume / rest).abs() < 2e-4, "{side}: {linear}");
        }
    }
    println!("closed form: {:.6} and {:.6}", dual_volume / rest, linear_volume / rest);
    assert!(dual_volume / rest > 0.99);
}

#[test]
fn the_middle_of_a_twisted_tube_keeps_its_radius_and_vanishes_in_linear_blending() {
    let mut sides = Sides::new();
    let model = tube();
    let middle = (RINGS / 2 * SIDES) as usize;
    for (model, radius) in [(&model, RADIUS), (&linear(&model), 0.0)] {
        for baked in posed(&mut sides, model, Precision::Exact, &twisted()) {
            for p in &baked[0].vertices.positions[middle..middle + SIDES as usize] {
                // Weights of the middle are off by half a step of 1/65535.
                let off = (Vec2::new(p.x, p.z).length() - radius).abs();
                assert!(off < 2e-6, "{off:e}");
            }
        }
    }
}

#[test]
fn every_ring_of_a_twisted_tube_is_where_f64_has_it() {
    let mut sides = Sides::new();
    let model = tube();
    // Not quite half a turn, which has two short ways.
    let rows = [Mat4::IDENTITY, Mat4::from_rotation_y(PI - 0.01)].map(row);
    let joints = rows.each_ref().map(Joint::new);
    let primitive = &model.meshes()[0].primitives()[0];
    for baked in posed(&mut sides, &model, Precision::Exact, &rows) {
        for vertex in 0..primitive.vertex_count() {
            let row = primitive.influences().unwrap().row(vertex).iter();
            let row: Vec<_> = row.map(|i| (&joints[i.joint as usize], f64::from(i.weight))).collect();
            let (matrix, offset) = blended(&row).unwrap();
            let expected = matrix * primitive.positions()[vertex].as_dvec3() + offset;
            let found = baked[0].vertices.positions[primitive.source_vertex(vertex) as usize].as_dvec3();
            assert!(found.distance(expected) < 1e-6, "{found} instead of {expected}");
        }
    }
}
