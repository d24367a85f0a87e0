//! Deformed vertices from an independent float64 evaluation, in the format "sinew-oracle/1" (described in
//! tests/data/README.md), and the rules by which results are held against them.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;
use sinew::deform::BakedPrimitive;

/// Where models and their expected results lie.
pub struct DataSet {
    assets: PathBuf,
    pub expected: PathBuf,
}

/// One clip at one time; no clip is the rest pose.
#[derive(Clone, Copy, Debug)]
pub struct Job {
    pub clip: Option<u32>,
    pub time: f32,
}

impl DataSet {
    /// The sets that are there: always the repository's own, and larger ones beside the checkout where
    /// somebody put them.
    pub fn all() -> Vec<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let set = |folder: &str, assets: &str, expected: &str| Self {
            assets: root.join(folder).join(assets),
            expected: root.join(folder).join(expected),
        };
        let sets = [
            set("tests/data", "assets", "expected"),
            set("../shared", "assets", "expected"),
            set("../shared", "bad", "bad_expected"),
        ];
        sets.into_iter().filter(|set| set.expected.join("jobs.json").exists()).collect()
    }

    /// Where a job's model lies; the demo character is not kept twice.
    pub fn model(&self, file: &str) -> PathBuf {
        match file.strip_prefix("demo/") {
            Some(name) => Path::new(env!("CARGO_MANIFEST_DIR")).join("assets").join(name),
            None => self.assets.join(file),
        }
    }

    /// Jobs by file.
    pub fn jobs(&self) -> BTreeMap<String, Vec<Job>> {
        let mut jobs: BTreeMap<String, Vec<Job>> = BTreeMap::new();
        for job in json(&self.expected.join("jobs.json")).as_array().expect("a list of jobs") {
            let file = job["file"].as_str().expect("a file").to_owned();
            let clip = job["clip"].as_u64().map(|c| c as u32);
            jobs.entry(file).or_default().push(Job { clip, time: number(&job["time"]) as f32 });
        }
        jobs
    }

    /// The expected results of one file.
    pub fn load(&self, file: &str) -> Expected {
        let bytes = fs::read(self.expected.join(format!("{file}.bin"))).expect("expected vertices");
        Expected { json: json(&self.expected.join(format!("{file}.json"))), bytes }
    }
}

pub struct Expected {
    json: Value,
    bytes: Vec<u8>,
}

/// How far one job's result is from the expected one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Difference {
    /// Of any coordinate, in metres.
    pub position: f64,
    /// The model's diagonal.
    pub diagonal: f64,
    /// Two steps of f32 at the largest coordinate.
    pub two_ulp: f64,
    /// Degrees.
    pub normal: f64,
    /// Degrees.
    pub tangent: f64,
}

impl Difference {
    /// What `fraction` of the diagonal, but at least two ulp, allows.
    pub fn bound(&self, fraction: f64) -> f64 {
        (fraction * self.diagonal).max(self.two_ulp)
    }

    /// Error as a fraction of the diagonal.
    pub fn relative(&self) -> f64 {
        self.position / self.diagonal
    }
}

impl Expected {
    /// Compares one job. `Err` names what is missing, has another shape or is not finite.
    pub fn compare(&self, job: Job, baked: &[BakedPrimitive]) -> Result<Difference, String> {
        let entry = self.entry(job).ok_or_else(|| format!("no expected entry for {job:?}"))?;
        let primitives = entry["primitives"].as_array().expect("primitives");
        let order: Vec<_> = primitives.iter().map(|p| (index(&p["node"]), index(&p["primitive"]))).collect();
        let found: Vec<_> = baked.iter().map(|b| (b.node as usize, b.primitive as usize)).collect();
        if order != found {
            return Err(format!("{job:?}: primitives are {found:?}, expected {order:?}"));
        }
        let diagonal = entry["diagonal"].as_f64().filter(|d| *d > 0.0).unwrap_or(1.0);
        let mut out = Difference { diagonal, ..Default::default() };
        let mut largest = 0.0f32;
        for (expected, baked) in primitives.iter().zip(baked) {
            let place = format!("{job:?} node {} primitive {}", baked.node, baked.primitive);
            let stride = index(&expected["stride"]).max(1);
            let v = &baked.vertices;
            if v.positions.len() != index(&expected["vertexCount"]) {
                return Err(format!("{place}: {} vertices", v.positions.len()));
            }
            let positions = self.floats(&expected["positions"], 3);
            for (want, have) in positions.zip(v.positions.iter().step_by(stride)) {
                for (want, have) in want.iter().zip(have.to_array()) {
                    if !have.is_finite() {
                        return Err(format!("{place}: position {have}"));
                    }
                    largest = largest.max(want.abs());
                    out.position = out.position.max((f64::from(*want) - f64::from(have)).abs());
                }
            }
            if !expected["normals"].is_null() {
                if v.normals.len() != v.positions.len() {
                    return Err(format!("{place}: normals missing"));
                }
                let normals = self.floats(&expected["normals"], 3);
                for (want, have) in normals.zip(v.normals.iter().step_by(stride)) {
                    out.normal = out.normal.max(degrees(&want, &have.to_array()));
                }
            }
            if !expected["tangents"].is_null() && !v.tangents.is_empty() {
                let tangents = self.floats(&expected["tangents"], 4);
                for (want, have) in tangents.zip(v.tangents.iter().step_by(stride)) {
                    out.tangent = out.tangent.max(degrees(&want[..3], &have.to_array()[..3]));
                    if (want[3] - have.w).abs() > 1e-3 {
                        return Err(format!("{place}: handedness {} instead of {}", have.w, want[3]));
                    }
                }
            }
        }
        out.two_ulp = 2.0 * f64::from(largest.next_up() - largest);
        Ok(out)
    }

    fn entry(&self, job: Job) -> Option<&Value> {
        let time = |e: &Value| (number(&e["time"]) - f64::from(job.time)).abs() < 1e-5;
        let clip = |e: &Value| e["clip"].as_u64().map(|c| c as u32) == job.clip;
        self.json["entries"].as_array()?.iter().find(|e| clip(e) && time(e))
    }

    fn floats(&self, record: &Value, width: usize) -> impl Iterator<Item = Vec<f32>> + '_ {
        let (offset, floats) = (index(&record["offset"]), index(&record["floats"]));
        let words = self.bytes[offset..offset + floats * 4].chunks_exact(4);
        let floats: Vec<f32> = words.map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
        floats.chunks_exact(width).map(<[f32]>::to_vec).collect::<Vec<_>>().into_iter()
    }
}

/// Angle between directions; 180 where one is expected and there is none.
fn degrees(want: &[f32], have: &[f32]) -> f64 {
    let (a, b) = ([0, 1, 2].map(|i| f64::from(want[i])), [0, 1, 2].map(|i| f64::from(have[i])));
    let length = |v: [f64; 3]| (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]).sqrt();
    if length(a) <= 0.5 {
        return 0.0;
    }
    if length(b).is_nan() || length(b) <= 0.5 {
        return 180.0;
    }
    let cross = [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
    length(cross).atan2(a[0] * b[0] + a[1] * b[1] + a[2] * b[2]).to_degrees()
}

fn json(path: &Path) -> Value {
    let text = fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or(0.0)
}

fn index(value: &Value) -> usize {
    value.as_u64().map_or(0, |v| v as usize)
}
