//! Reader of `pab.bin`, a 67-joint skeleton with eight clips (its README has the format).

use std::{fs, path::Path};

use glam::{Affine3A, Mat4, Quat, Vec3};
use sinew::{
    Model,
    model::{Channel, Clip, Interpolation, ModelDesc, Node, Skeleton, Skin, Track, Transform},
};

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let (head, tail) = self.0.split_first_chunk().unwrap();
        self.0 = tail;
        *head
    }

    fn count(&mut self) -> usize {
        u32::from_le_bytes(self.take()) as usize
    }

    fn floats<const N: usize>(&mut self) -> [f32; N] {
        std::array::from_fn(|_| f32::from_le_bytes(self.take()))
    }
}

/// The model with those of its clips whose name ends so, or `None` where the file is not.
pub(crate) fn load(kind: &str) -> Option<Model> {
    // Beside the checkout; the bench of the peers is built from a folder below it.
    let folders = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let bytes = folders.filter_map(|folder| fs::read(folder.join("shared/bench/pab.bin")).ok()).next()?;
    let mut reader = Reader(&bytes);
    assert_eq!(&reader.take(), b"PABX");
    let (joints, clips) = (reader.count(), reader.count());
    let parents: Vec<_> = (0..joints).map(|_| i32::from_le_bytes(reader.take())).collect();
    let nodes = parents.iter().map(|&parent| {
        let [tx, ty, tz, x, y, z, w, sx, sy, sz] = reader.floats();
        let rest = Transform {
            translation: Vec3::new(tx, ty, tz),
            rotation: Quat::from_xyzw(x, y, z, w).normalize(),
            scale: Vec3::new(sx, sy, sz),
        };
        Node { parent: u32::try_from(parent).ok(), rest, ..Node::default() }
    });
    let skeleton = Skeleton::new(nodes.collect()).unwrap();
    let inverse_binds: Vec<_> = (0..joints)
        .map(|_| Mat4::from(Affine3A::from_mat4(Mat4::from_cols_array(&reader.floats()))))
        .collect();
    let skin = Skin::new("skin", &skeleton, (0..joints as u32).collect(), Some(&inverse_binds)).unwrap();
    let clips = (0..clips).map(|_| {
        let name: [u8; 16] = reader.take();
        let [_duration] = reader.floats();
        let mut tracks = Vec::new();
        for node in 0..joints as u32 {
            let counts = [reader.count(), reader.count(), reader.count()];
            let kinds = [(Channel::Translation, 3), (Channel::Rotation, 4), (Channel::Scale, 3)];
            for ((channel, width), keys) in kinds.into_iter().zip(counts) {
                let (mut times, mut values) = (Vec::new(), Vec::new());
                for _ in 0..keys {
                    times.push(f32::from_le_bytes(reader.take()));
                    (0..width).for_each(|_| values.push(f32::from_le_bytes(reader.take())));
                }
                if keys > 0 {
                    let interpolation = Interpolation::Linear;
                    tracks.push(Track { node, channel, interpolation, times, values, width });
                }
            }
        }
        let name = String::from_utf8_lossy(&name);
        Clip::new(name.trim_end_matches('\0'), tracks).unwrap()
    });
    let clips = clips.filter(|clip| clip.name().ends_with(kind)).collect();
    Some(Model::new(ModelDesc { skeleton, skins: vec![skin], clips, ..ModelDesc::default() }).unwrap())
}
