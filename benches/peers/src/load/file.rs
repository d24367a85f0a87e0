//! A GLB of about 20 MiB, always the same: skinned meshes, morph targets, clips; no images.

use std::fmt::Write as _;

const JOINTS: usize = 64;
/// Rows and columns of the sheet of vertices that a mesh is.
const SIDE: usize = 125;
const MESHES: usize = 7;
/// Targets of the first two meshes, dense as exporters write them; each moves a few rows of the sheet.
const TARGETS: usize = 7;
const CLIPS: usize = 9;
const KEYS: usize = 300;

/// Written as text: a crate for JSON is no business of a bench's.
#[derive(Default)]
struct Writer {
    bin: Vec<u8>,
    views: String,
    accessors: String,
    count: usize,
}

impl Writer {
    fn add<T: Copy, const N: usize>(
        &mut self,
        component: u32,
        kind: &str,
        count: usize,
        values: &[T],
        bytes: fn(T) -> [u8; N],
    ) -> usize {
        let (offset, length) = (self.bin.len(), values.len() * N);
        self.bin.extend(values.iter().flat_map(|v| bytes(*v)));
        self.bin.resize(self.bin.len().next_multiple_of(4), 0);
        let comma = if self.count > 0 { "," } else { "" };
        let _ = write!(self.views, r#"{comma}{{"buffer":0,"byteOffset":{offset},"byteLength":{length}}}"#);
        // Bounds that hold for everything here.
        let bounds = match kind {
            "VEC3" => r#","min":[-100,-100,-100],"max":[100,100,100]"#,
            "SCALAR" if component == 5126 => r#","min":[0],"max":[100]"#,
            _ => "",
        };
        let _ = write!(
            self.accessors,
            r#"{comma}{{"bufferView":{0},"componentType":{component},"count":{count},"type":"{kind}"{bounds}}}"#,
            self.count
        );
        self.count += 1;
        self.count - 1
    }

    fn floats(&mut self, kind: &str, width: usize, values: &[f32]) -> usize {
        self.add(5126, kind, values.len() / width, values, f32::to_le_bytes)
    }
}

/// A number from 0 to 1 that looks random.
fn noise(at: usize) -> f32 {
    let mixed = (at as u32).wrapping_mul(0x9E37_79B9) ^ (at as u32 >> 7).wrapping_mul(0x85EB_CA6B);
    (mixed >> 8) as f32 / (1 << 24) as f32
}

pub(crate) fn generate() -> Vec<u8> {
    let mut writer = Writer::default();
    let meshes: Vec<String> = (0..MESHES).map(|mesh| self::mesh(mesh, &mut writer)).collect();
    let clips: Vec<String> = (0..CLIPS).map(|clip| self::clip(clip, &mut writer)).collect();
    let mut binds = vec![0.0f32; JOINTS * 16];
    for (joint, bind) in binds.as_chunks_mut::<16>().0.iter_mut().enumerate() {
        (bind[0], bind[5], bind[10], bind[15], bind[13]) = (1.0, 1.0, 1.0, 1.0, -(joint as f32) * 0.1);
    }
    let binds = writer.floats("MAT4", 16, &binds);
    let joints: Vec<String> = (0..JOINTS).map(|joint| joint.to_string()).collect();
    let mut nodes: Vec<String> = (0..JOINTS)
        .map(|joint| {
            let children =
                if joint + 1 < JOINTS { format!(r#","children":[{}]"#, joint + 1) } else { String::new() };
            format!(r#"{{"name":"joint {joint}","translation":[0,0.1,0]{children}}}"#)
        })
        .collect();
    nodes.extend((0..MESHES).map(|mesh| format!(r#"{{"mesh":{mesh},"skin":0}}"#)));
    let roots: Vec<String> = (0..MESHES).map(|mesh| (JOINTS + mesh).to_string()).collect();
    let json = format!(
        r#"{{"asset":{{"version":"2.0"}},"scene":0,"scenes":[{{"nodes":[0,{}]}}],"nodes":[{}],"skins":[{{"joints":[{}],"inverseBindMatrices":{binds}}}],"meshes":[{}],"animations":[{}],"accessors":[{}],"bufferViews":[{}],"buffers":[{{"byteLength":{}}}]}}"#,
        roots.join(","),
        nodes.join(","),
        joints.join(","),
        meshes.join(","),
        clips.join(","),
        writer.accessors,
        writer.views,
        writer.bin.len()
    );
    glb(json.into_bytes(), &writer.bin)
}

fn mesh(mesh: usize, writer: &mut Writer) -> String {
    let vertices = SIDE * SIDE;
    let at = |v: usize| (v % SIDE, v / SIDE);
    let each = |make: &dyn Fn(usize, &mut Vec<f32>)| {
        let mut out = Vec::new();
        (0..vertices).for_each(|v| make(v, &mut out));
        out
    };
    let positions =
        each(&|v, out| out.extend([at(v).0 as f32 * 0.05, at(v).1 as f32 * 0.05, noise(v + mesh)]));
    let normals = each(&|_, out| out.extend([0.0, 0.0, 1.0]));
    let tangents = each(&|_, out| out.extend([1.0, 0.0, 0.0, 1.0]));
    let uvs = each(&|v, out| out.extend([at(v).0 as f32 / SIDE as f32, at(v).1 as f32 / SIDE as f32]));
    // Neighbouring joints, from one to four of them, as along a limb.
    let joint = |v: usize, k: usize| (at(v).1 * JOINTS / SIDE + k) % JOINTS;
    let joints: Vec<u8> = (0..vertices * 4).map(|i| joint(i / 4, i % 4) as u8).collect();
    let weights = each(&|v, out| {
        let (count, turn) = (1 + (v / 7) % 4, noise(v));
        let raw: [f32; 4] =
            std::array::from_fn(|k| if k < count { 1.0 + turn + (k * k) as f32 } else { 0.0 });
        let sum: f32 = raw.iter().sum();
        out.extend(raw.map(|w| w / sum));
    });
    let mut indices: Vec<u32> = Vec::new();
    for v in (0..vertices - SIDE).filter(|v| v % SIDE + 1 < SIDE).map(|v| v as u32) {
        let below = v + SIDE as u32;
        indices.extend([v, v + 1, below, below, v + 1, below + 1]);
    }
    let indices = writer.add(5125, "SCALAR", indices.len(), &indices, u32::to_le_bytes);
    let positions = writer.floats("VEC3", 3, &positions);
    let normals = writer.floats("VEC3", 3, &normals);
    let tangents = writer.floats("VEC4", 4, &tangents);
    let uvs = writer.floats("VEC2", 2, &uvs);
    let joints = writer.add(5121, "VEC4", vertices, &joints, u8::to_le_bytes);
    let weights = writer.floats("VEC4", 4, &weights);
    let targets: Vec<String> = (0..if mesh < 2 { TARGETS } else { 0 })
        .map(|target| {
            let moved = |v: usize| at(v).1 / 16 == target;
            let deltas =
                |by: f32| each(&|v, out| out.extend([if moved(v) { by + noise(v) } else { 0.0 }; 3]));
            let (positions, normals) = (deltas(0.1), deltas(0.0));
            let (positions, normals) =
                (writer.floats("VEC3", 3, &positions), writer.floats("VEC3", 3, &normals));
            format!(r#"{{"POSITION":{positions},"NORMAL":{normals}}}"#)
        })
        .collect();
    let targets =
        if targets.is_empty() { String::new() } else { format!(r#","targets":[{}]"#, targets.join(",")) };
    format!(
        r#"{{"name":"mesh {mesh}","primitives":[{{"attributes":{{"POSITION":{positions},"NORMAL":{normals},"TANGENT":{tangents},"TEXCOORD_0":{uvs},"JOINTS_0":{joints},"WEIGHTS_0":{weights}}},"indices":{indices}{targets}}}]}}"#
    )
}

/// Rotation and translation of every joint.
fn clip(clip: usize, writer: &mut Writer) -> String {
    let times: Vec<f32> = (0..KEYS).map(|key| key as f32 / 30.0).collect();
    let times = writer.floats("SCALAR", 1, &times);
    let (mut channels, mut samplers) = (Vec::new(), Vec::new());
    for joint in 0..JOINTS {
        let angle = |key: usize| (key as f32 / 30.0 + joint as f32 + clip as f32).sin() * 0.5;
        let turns: Vec<f32> =
            (0..KEYS).flat_map(|key| [0.0, 0.0, angle(key).sin(), angle(key).cos()]).collect();
        let moves: Vec<f32> = (0..KEYS).flat_map(|key| [0.0, 0.1, 0.01 * angle(key)]).collect();
        for (path, output) in [
            ("rotation", writer.floats("VEC4", 4, &turns)),
            ("translation", writer.floats("VEC3", 3, &moves)),
        ] {
            channels.push(format!(
                r#"{{"sampler":{},"target":{{"node":{joint},"path":"{path}"}}}}"#,
                samplers.len()
            ));
            samplers.push(format!(r#"{{"input":{times},"output":{output}}}"#));
        }
    }
    format!(
        r#"{{"name":"clip {clip}","channels":[{}],"samplers":[{}]}}"#,
        channels.join(","),
        samplers.join(",")
    )
}

fn glb(mut json: Vec<u8>, bin: &[u8]) -> Vec<u8> {
    json.resize(json.len().next_multiple_of(4), b' ');
    let mut out = b"glTF\x02\0\0\0".to_vec();
    out.extend(((12 + 8 + json.len() + 8 + bin.len()) as u32).to_le_bytes());
    for (kind, data) in [(b"JSON", &json[..]), (b"BIN\0", bin)] {
        out.extend((data.len() as u32).to_le_bytes());
        out.extend(kind);
        out.extend(data);
    }
    out
}
