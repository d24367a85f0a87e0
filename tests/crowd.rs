//! Many instances at once: every way to evaluate gives the same bytes, whatever the lanes, the batch and the
//! threads are; compressed clips keep their bound.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use common::crowd::{
    CLIPS, Crowd, LOOSE, PLAIN, Rig, Ways, all_ways, angle_about_z, bytes, furthest, rig, turning,
};
use glam::{Affine3A, Mat3, Mat4, Quat, Vec3};
use sinew::{
    Animator, Model,
    animate::{
        AnimateError, CompressError, CompressOptions, CompressedClips, JointMatrix, LayerKind, LoopMode,
        Mask, PaletteLayout, sample, set_palette, set_world,
    },
    model::{Channel, Clip, Interpolation, ModelDesc, Node, Skeleton, Skin, Track, Transform},
};

#[test]
fn simd_and_portable_code_give_the_same_bytes() {
    for nodes in [2, 3, 9, 40, 100] {
        let model = rig(nodes);
        for ways in all_ways() {
            let [simd, portable] =
                [true, false].map(|simd| Crowd::new(&model, 0..19, Ways { simd, ..ways }).after(3));
            assert!(bytes(&simd) == bytes(&portable), "{nodes} nodes");
        }
    }
}

#[test]
fn an_instance_has_the_same_bytes_alone_and_in_a_batch_of_any_size() {
    let model = rig(30);
    for ways in all_ways() {
        let alone: Vec<_> = (0..17).flat_map(|i| Crowd::new(&model, [i], ways).after(2)).collect();
        let rows = alone.len() / 17;
        for size in 1..=17 {
            let batch = Crowd::new(&model, 0..size, ways).after(2);
            assert!(bytes(&batch) == bytes(&alone[..size as usize * rows]), "{size} instances");
        }
        let mut backwards = Crowd::new(&model, (0..17).rev(), ways);
        backwards.ids.reverse();
        assert!(bytes(&backwards.after(2)) == bytes(&alone), "the other way round");
    }
}

#[cfg(feature = "threads")]
#[test]
fn one_two_and_eight_threads_give_the_same_bytes() {
    let model = rig(20);
    for rate in [1, 3] {
        for ways in all_ways() {
            let on = |threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| Crowd::new(&model, 0..500, Ways { rate, ..ways }).after(3))
            };
            let [one, two, eight] = [1, 2, 8].map(on);
            assert!(bytes(&one) == bytes(&two), "two threads");
            assert!(bytes(&one) == bytes(&eight), "eight threads");
        }
    }
}

#[test]
fn exact_clips_give_the_bytes_of_the_stages_called_one_by_one() {
    for nodes in [2, 9, 40] {
        let model = rig(nodes);
        let layout = PaletteLayout::new(&model);
        let mut crowd = Crowd::new(&model, 0..13, Ways { keep_poses: true, ..PLAIN });
        crowd.frame();
        for &id in &crowd.ids {
            let player = crowd.animator.player(id).unwrap().unwrap();
            let clip = &model.clips()[player.clip() as usize];
            let mut pose = sample(&model, clip, player.time() as f32);
            let mut world = vec![Affine3A::IDENTITY; model.skeleton().len()];
            set_world(model.skeleton(), Affine3A::IDENTITY, &pose.as_mut(), &mut world);
            let mut palette = vec![JointMatrix::IDENTITY; layout.len()];
            set_palette(&model, &layout, &world, &mut palette);
            assert!(bytes(&palette) == bytes(crowd.animator.palette(id).unwrap()));
            assert_eq!(world, crowd.animator.world(id).unwrap());
            for node in 0..nodes {
                assert_eq!(pose.transform(node), crowd.animator.local(id, node).unwrap());
            }
        }
    }
}

/// Palettes of instances that are told to hide what nobody sees, which has them evaluated stage by stage.
fn told(model: &Rig, ways: Ways) -> Vec<JointMatrix> {
    let mut told = Crowd::new(model, 0..13, ways);
    for &id in &told.ids {
        told.animator.show_node(id, LOOSE, false).unwrap();
    }
    told.after(2)
}

#[test]
fn an_instance_that_is_told_more_keeps_its_bytes() {
    for nodes in [2, 9, 40] {
        let model = rig(nodes);
        for ways in all_ways().filter(|ways| ways.layers < 2 && ways.keep_poses) {
            let plain = Crowd::new(&model, 0..13, ways).after(2);
            assert!(bytes(&told(&model, ways)) == bytes(&plain));
        }
    }
}

#[test]
fn without_poses_an_instance_that_is_told_more_moves_by_rounding_alone() {
    for nodes in [2, 9, 40] {
        let model = rig(nodes);
        for ways in all_ways().filter(|ways| ways.layers < 2 && !ways.keep_poses) {
            let plain = Crowd::new(&model, 0..13, ways).after(2);
            let off = furthest(&told(&model, ways), &plain);
            assert!(off < 1e-5, "{off}");
        }
    }
}

#[test]
fn blended_layers_are_as_close_to_the_reference_as_rounding_lets_them() {
    let model = rig(40);
    for ways in all_ways().filter(|ways| ways.layers > 1) {
        let plain = Crowd::new(&model, 0..13, ways).after(2);
        let off = furthest(&told(&model, ways), &plain);
        assert!(off < 2e-5, "{off}");
    }
}

#[test]
fn a_mask_of_ones_changes_nothing_but_rounding() {
    let model = rig(12);
    let ways = Ways { layers: 2, ..PLAIN };
    let plain = Crowd::new(&model, 0..9, ways).after(1);
    let mut masked = Crowd::new(&model, 0..9, ways);
    for &id in &masked.ids {
        let layers: Vec<_> = masked.animator.layers(id).unwrap().iter().map(|layer| layer.id()).collect();
        for layer in layers {
            masked.animator.layer_mut(id, layer).unwrap().mask = Some(Mask::new(&model, 1.0));
        }
    }
    assert!(furthest(&masked.after(1), &plain) < 2e-5);
}

#[test]
fn palettes_of_thousands_have_the_bytes_of_few() {
    let model = rig(12);
    let rows = PaletteLayout::new(&model).len();
    // More than the caches next to a core hold, and not whole eights.
    let count = (9 << 20) / (rows as u32 * 48) / 8 * 8 + 5;
    let many = Crowd::new(&model, 0..count, Ways { compressed: true, ..PLAIN }).after(2);
    for first in (0..count).step_by(997) {
        let few =
            Crowd::new(&model, first..count.min(first + 11), Ways { compressed: true, ..PLAIN }).after(2);
        let at = first as usize * rows;
        assert!(bytes(&few) == bytes(&many[at..at + few.len()]), "from {first}");
    }
    let last = Crowd::new(&model, count - 5..count, Ways { compressed: true, ..PLAIN }).after(2);
    assert!(bytes(&last) == bytes(&many[(count as usize - 5) * rows..]));
}

#[test]
fn palettes_elsewhere_have_the_same_bytes_at_any_address() {
    let model = rig(12);
    for simd in [true, false] {
        let mut crowd = Crowd::new(&model, 0..21, Ways { compressed: true, simd, ..PLAIN });
        crowd.frame();
        let expected = crowd.palettes();
        let numbers = expected.len() * 12;
        for first in 0..17 {
            let mut memory = vec![7.0f32; numbers + 20];
            let own = bytemuck::cast_slice_mut(&mut memory[first..first + numbers]);
            crowd.animator.evaluate_into(own).unwrap();
            assert!(bytes(own) == bytes(&expected), "{first}");
            let outside = memory[..first].iter().chain(&memory[first + numbers..]);
            assert!(outside.copied().all(|number| number == 7.0), "{first}");
        }
    }
}

#[test]
fn palettes_go_straight_into_memory_of_the_callers() {
    let (first, second) = (rig(12), rig(20));
    let mut animator = Animator::new();
    let models = [animator.add_model(&first), animator.add_model(&second)];
    for i in 0..21u32 {
        let id = animator.spawn(models[i as usize % 2]).unwrap();
        animator.play(id, i % CLIPS).unwrap().seek(f64::from(i) * 0.1);
    }
    animator.evaluate();
    let before: Vec<_> = animator.instances().collect();
    let kept: Vec<_> = before.iter().flat_map(|id| animator.palette(*id).unwrap()).copied().collect();
    animator.advance(0.1);
    let mut own = vec![JointMatrix { x: [f32::NAN; 4], ..JointMatrix::IDENTITY }; animator.palette_rows()];
    animator.evaluate_into(&mut own).unwrap();
    let still: Vec<_> = before.iter().flat_map(|id| animator.palette(*id).unwrap()).copied().collect();
    assert_eq!(kept, still, "the animator's own stay");
    animator.evaluate();
    let expected: Vec<_> = before.iter().flat_map(|id| animator.palette(*id).unwrap()).copied().collect();
    assert!(bytes(&own) == bytes(&expected));
    let rows = own.len();
    own.pop();
    let error = animator.evaluate_into(&mut own).unwrap_err();
    assert_eq!(error.to_string(), format!("{} palette rows given, {rows} needed", rows - 1));
}

#[test]
fn a_turn_of_any_size_is_within_a_hundredth_of_a_degree_of_slerp() {
    let mut worst = 0.0f64;
    for angle in (1..=179).map(|angle| angle as f32) {
        let model = turning(angle);
        let mut crowd = Crowd::new(&model, [0], Ways { compressed: true, keep_poses: true, ..PLAIN });
        let id = crowd.ids[0];
        for step in 0..=100 {
            let time = f64::from(step) / 100.0;
            crowd.animator.player_mut(id).unwrap().unwrap().set_mode(LoopMode::Once);
            crowd.animator.player_mut(id).unwrap().unwrap().seek(time);
            crowd.animator.evaluate();
            let own = angle_about_z(&crowd.animator.world(id).unwrap()[1]);
            worst = worst.max((own - f64::from(angle) * time).abs());
        }
    }
    // The bar is 0.05; the correction's own error is 0.002, 16 bits add the rest.
    assert!(worst < 0.01, "{worst} degrees");
}

#[test]
fn a_clip_that_would_be_too_coarse_is_refused_with_the_place_and_played_exactly() {
    let model = rig(12);
    let clips = CompressedClips::new(&model, &CompressOptions::default().with_tolerance(1e-9));
    let error = clips.get(0).unwrap().unwrap_err();
    let CompressError::TooCoarse { error: off, node, time, .. } = error else { panic!("{error}") };
    assert_eq!(
        error.to_string(),
        format!(
            "the clip would be off by {off} at node {node} and {time} s, more than the tolerance of \
             0.000000001; raise the tolerance or play it as it is"
        )
    );
    let mut crowd = Crowd::new(&model, 0..9, PLAIN);
    crowd.animator.set_compressed(crowd.model, Some(clips)).unwrap();
    let expected = Crowd::new(&model, 0..9, PLAIN).after(1);
    assert!(bytes(&crowd.after(1)) == bytes(&expected));
}

#[test]
fn a_smaller_tolerance_is_kept_whatever_the_tip_is() {
    let model = rig(30);
    for tip in [0.0, 0.1, 2.0] {
        for tolerance in [1e-4, 1e-3, 1e-2] {
            let options = CompressOptions::default().with_tip(tip).with_tolerance(tolerance);
            let clips = CompressedClips::new(&model, &options);
            for clip in 0..CLIPS {
                if let Ok(packed) = clips.get(clip).unwrap() {
                    assert!(packed.error() <= tolerance);
                }
            }
        }
    }
}

#[test]
fn poses_that_are_not_kept_cannot_be_read() {
    let model = rig(9);
    let mut crowd = Crowd::new(&model, 0..3, PLAIN);
    crowd.frame();
    let (id, handle) = (crowd.ids[0], crowd.model);
    let error = AnimateError::PosesNotKept { model: handle };
    assert_eq!(crowd.animator.world(id).unwrap_err(), error);
    assert_eq!(crowd.animator.local(id, 1).unwrap_err(), error);
    assert_eq!(
        error.to_string(),
        format!("poses of model {handle:?} are not kept; call keep_poses(model, true) before the evaluation")
    );
    crowd.animator.keep_poses(handle, true).unwrap();
    assert_eq!(crowd.animator.local(id, 1).unwrap(), model.skeleton().rest()[1], "rest until evaluated");
    crowd.frame();
    assert_ne!(crowd.animator.world(id).unwrap()[1], Affine3A::IDENTITY);
}

#[test]
fn compressed_clips_of_another_model_are_refused() {
    let (own, other) = (rig(9), rig(9));
    let mut animator = Animator::new();
    let model = animator.add_model(&own);
    let error = animator.set_compressed(model, Some(other.compressed.clone())).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "the compressed clips are those of another model than {model:?}; compress the clips of this one"
        )
    );
}

#[test]
fn whatever_is_said_to_layers_no_number_is_lost() {
    let model = rig(20);
    for compressed in [false, true] {
        let mut crowd = Crowd::new(&model, 0..24, Ways { compressed, layers: 2, ..PLAIN });
        for (i, &id) in crowd.ids.iter().enumerate() {
            let layers: Vec<_> = crowd.animator.layers(id).unwrap().iter().map(|layer| layer.id()).collect();
            let layer = crowd.animator.layer_mut(id, layers[0]).unwrap();
            match i % 8 {
                0 => layer.weight = f32::NAN,
                1 => layer.weight = f32::MAX,
                2 => layer.weight = -3.0,
                3 => layer.player.seek(f64::NAN),
                4 => layer.player.seek(1e300),
                5 => layer.player.speed = f64::INFINITY,
                6 => layer.player.seek(-7.3),
                // More layers than are blended in lanes.
                _ => {
                    for _ in 0..9 {
                        crowd.animator.add_layer(id, 0, LayerKind::Blend).unwrap();
                    }
                }
            }
        }
        let all = crowd.after(3);
        let is_fine = |v: &f32| v.is_finite() && v.abs() < 1e4;
        assert!(all.iter().all(|m| [m.x, m.y, m.z].concat().iter().all(is_fine)), "{compressed}");
    }
}

#[test]
fn opposite_rotations_leave_the_rest_pose() {
    let model = turning(0.0);
    let node = |angle: f32| Track {
        node: 1,
        channel: Channel::Rotation,
        interpolation: Interpolation::Linear,
        times: vec![0.0, 1.0],
        values: [Quat::from_rotation_z(angle).to_array(), Quat::from_rotation_z(angle + 0.1).to_array()]
            .concat(),
        width: 4,
    };
    let clips = [0.0, std::f32::consts::PI].map(|angle| Clip::new("c", vec![node(angle)]).unwrap());
    let desc = ModelDesc {
        skeleton: model.skeleton().clone(),
        skins: model.skins().to_vec(),
        clips: clips.to_vec(),
        ..ModelDesc::default()
    };
    let model = Rig::new(Model::new(desc).unwrap());
    let mut crowd = Crowd::new(&model, 0..8, Ways { layers: 2, keep_poses: true, ..PLAIN });
    for &id in &crowd.ids {
        for layer in crowd.animator.layers(id).unwrap().iter().map(|layer| layer.id()).collect::<Vec<_>>() {
            let layer = crowd.animator.layer_mut(id, layer).unwrap();
            layer.weight = 1.0;
            layer.player.seek(0.0);
        }
    }
    crowd.animator.evaluate();
    for &id in &crowd.ids {
        let q = crowd.animator.local(id, 1).unwrap().rotation;
        assert!(q.is_normalized(), "{q}");
    }
}

#[test]
fn a_sheared_inverse_bind_matrix_and_mirrored_nodes_give_what_the_stages_give() {
    let nodes = vec![
        Node::default(),
        Node {
            parent: None,
            rest: Transform { scale: Vec3::new(-1.0, 2.0, 0.0), ..Transform::default() },
            ..Node::default()
        },
        Node {
            parent: Some(1),
            rest: Transform::from_translation(Vec3::new(-0.0, 1.0, -1.0)),
            ..Node::default()
        },
    ];
    let skeleton = Skeleton::new(nodes).unwrap();
    let shear = Mat4::from_mat3(Mat3::from_cols(Vec3::X, Vec3::new(0.5, -1.0, 0.0), Vec3::Z));
    let skin = Skin::new("s", &skeleton, vec![2, 1], Some(&[shear, Mat4::IDENTITY])).unwrap();
    let model =
        Rig::new(Model::new(ModelDesc { skeleton, skins: vec![skin], ..ModelDesc::default() }).unwrap());
    let layout = PaletteLayout::new(&model);
    let mut pose = sinew::animate::Pose::rest(&model);
    let mut world = vec![Affine3A::IDENTITY; 3];
    set_world(model.skeleton(), Affine3A::IDENTITY, &pose.as_mut(), &mut world);
    let mut expected = vec![JointMatrix::IDENTITY; layout.len()];
    set_palette(&model, &layout, &world, &mut expected);
    for count in [1, 9] {
        for simd in [false, true] {
            let ways = Ways { layers: 0, simd, ..PLAIN };
            for own in Crowd::new(&model, 0..count, ways).after(1).chunks_exact(expected.len()) {
                // Zeros may have another sign.
                assert_eq!(own, expected, "{count} {simd}");
            }
            let ways = Ways { keep_poses: true, ..ways };
            for own in Crowd::new(&model, 0..count, ways).after(1).chunks_exact(expected.len()) {
                assert!(bytes(own) == bytes(&expected), "{count} {simd}");
            }
        }
    }
}

#[test]
fn a_chain_whose_scales_leave_f32_and_come_back_keeps_its_palette_finite() {
    let node = |n: u32, scale: f32| Node {
        parent: n.checked_sub(1),
        rest: Transform { scale: Vec3::splat(scale), ..Transform::default() },
        ..Node::default()
    };
    let nodes = [1e30, 1e30, 1e-30, 1e-30].into_iter().zip(0..).map(|(scale, n)| node(n, scale));
    let skeleton = Skeleton::new(nodes.collect()).unwrap();
    let skin = Skin::new("s", &skeleton, vec![3], None).unwrap();
    let model =
        Rig::new(Model::new(ModelDesc { skeleton, skins: vec![skin], ..ModelDesc::default() }).unwrap());
    for count in [1, 9] {
        let all = Crowd::new(&model, 0..count, Ways { layers: 0, ..PLAIN }).after(1);
        assert!(all.iter().all(|m| [m.x, m.y, m.z].concat().iter().all(|v| v.is_finite())));
    }
}

#[test]
fn weights_next_to_nothing_still_make_a_pose() {
    let model = rig(12);
    let mut crowd = Crowd::new(&model, 0..9, Ways { layers: 2, ..PLAIN });
    for &id in &crowd.ids {
        crowd.animator.set_threshold(id, 0.0).unwrap();
        for layer in crowd.animator.layers(id).unwrap().iter().map(|layer| layer.id()).collect::<Vec<_>>() {
            crowd.animator.layer_mut(id, layer).unwrap().weight = 1e-39;
        }
    }
    assert!(crowd.after(1).iter().all(|m| [m.x, m.y, m.z].concat().iter().all(|v| v.is_finite())));
}
