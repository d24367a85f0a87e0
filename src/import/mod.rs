//! glTF 2.0 and GLB to a validated [`Model`].
//!
//! Nothing is trusted: sizes are checked before they are used, files are read only from the model's own
//! folder and below, and no input panics. What breaks the specification but has one sensible meaning is
//! repaired and listed in [`Model::diagnostics`]; the rest is an [`ImportError`].

mod accessor;
mod buffers;
mod charge;
mod clips;
pub mod codes;
mod container;
mod document;
mod error;
mod extensions;
mod format;
mod image_format;
mod images;
mod influences;
mod materials;
mod meshes;
mod meshopt;
mod nodes;
mod parts;
mod pointers;
mod prune;
mod references;
mod skins;
mod stage;
mod tangents;
mod targets;
mod topology;
mod uri;
mod uv_transform;

use std::{fmt, io, num::NonZeroU32, path::Path};

pub use error::ImportError;
pub use stage::{Progress, Stage};

use self::{accessor::Reader, codes::Report, document::Document, stage::Steps, uri::Files};
use crate::model::{Model, ModelDesc};

/// Gives the bytes of an external file. The name is decoded, relative and free of `..`.
pub type Resolver<'a> = &'a dyn Fn(&str) -> io::Result<Vec<u8>>;

/// How to load.
#[derive(Clone, Copy, Default)]
pub struct ImportOptions<'a> {
    /// Refuse what would otherwise be repaired, and required extensions that only the look would lack.
    pub strict: bool,
    /// External files, when loading from bytes. Without it they are errors.
    pub resolver: Option<Resolver<'a>>,
    /// What a file may cost.
    pub limits: Limits,
    /// Influences that a vertex keeps, the strongest of all sets; the others are left out with a diagnostic. `None`, as at
    /// first, keeps all of them.
    pub most_influences: Option<NonZeroU32>,
    /// Called on this thread as each stage begins, and before each mesh and clip.
    pub progress: Option<&'a dyn Fn(Progress)>,
}

impl fmt::Debug for ImportOptions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ImportOptions")
            .field("strict", &self.strict)
            .field("resolver", &self.resolver.is_some())
            .field("limits", &self.limits)
            .field("most_influences", &self.most_influences)
            .field("progress", &self.progress.is_some())
            .finish()
    }
}

/// What a file may cost. The defaults suit files from strangers on a desktop machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of the file and everything it refers to, together.
    pub file_bytes: u64,
    /// Bytes of decoded data, together, counted each time it is used.
    pub decoded_bytes: u64,
    /// Values in the JSON.
    pub json_values: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { file_bytes: 1 << 30, decoded_bytes: 1 << 29, json_values: 4 << 20 }
    }
}

/// What is left of the limits.
struct Budget {
    limits: Limits,
    file_bytes: u64,
    decoded_bytes: u64,
}

impl Budget {
    fn new(limits: Limits) -> Self {
        Self { limits, file_bytes: 0, decoded_bytes: 0 }
    }

    fn file_bytes_left(&self) -> u64 {
        self.limits.file_bytes.saturating_sub(self.file_bytes)
    }

    fn decoded_bytes_left(&self) -> u64 {
        self.limits.decoded_bytes.saturating_sub(self.decoded_bytes)
    }

    fn file_bytes(&mut self, place: &str, bytes: u64) -> Result<(), ImportError> {
        self.file_bytes = self.file_bytes.saturating_add(bytes);
        within(place, "bytes in files", self.file_bytes, self.limits.file_bytes)
    }

    fn decoded(&mut self, place: &str, elements: u64, bytes_each: u64) -> Result<(), ImportError> {
        self.decoded_bytes = self.decoded_bytes.saturating_add(elements.saturating_mul(bytes_each));
        within(place, "decoded bytes", self.decoded_bytes, self.limits.decoded_bytes)
    }
}

fn within(place: &str, what: &'static str, found: u64, limit: u64) -> Result<(), ImportError> {
    if found <= limit {
        return Ok(());
    }
    Err(ImportError::Limit { place: place.into(), what, found, limit })
}

impl Model {
    /// Loads a `.gltf` or `.glb` file with the default options.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, ImportError> {
        Self::load_with(path, &ImportOptions::default())
    }

    /// Loads a `.gltf` or `.glb` file. External files come from its folder or below; the options'
    /// resolver is not used.
    pub fn load_with(path: impl AsRef<Path>, options: &ImportOptions<'_>) -> Result<Self, ImportError> {
        let path = path.as_ref();
        let bytes = uri::read_limited(path, options.limits.file_bytes)
            .map_err(|source| ImportError::Read { path: path.into(), source })?;
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        import(&bytes, &Files::Folder(folder.into()), options)
    }

    /// Loads from the bytes of a `.gltf` or `.glb` file.
    pub fn from_bytes(bytes: &[u8], options: &ImportOptions<'_>) -> Result<Self, ImportError> {
        let files = options.resolver.map_or(Files::None, Files::Resolver);
        import(bytes, &files, options)
    }
}

/// The stages, in order; each trusts what those before it checked.
fn import(bytes: &[u8], files: &Files<'_>, options: &ImportOptions<'_>) -> Result<Model, ImportError> {
    let mut report = Report::new(options.strict);
    let mut budget = Budget::new(options.limits);
    let steps = Steps(options.progress);
    steps.begin(Stage::Container);
    budget.file_bytes("the file", bytes.len() as u64)?;
    let container = container::split(bytes, &options.limits, &mut report)?;
    steps.begin(Stage::Json);
    let json = prune::parse(container.json, &mut report)?;
    steps.begin(Stage::Schema);
    let document = Document::new(json)?;
    references::check(&document)?;

    steps.begin(Stage::Nodes);
    let skeleton = nodes::skeleton(&document, &mut report)?;
    steps.begin(Stage::Buffers);
    let buffers = buffers::load(&document, container.bin, files, &mut budget, &mut report)?;
    steps.begin(Stage::Images);
    let images = images::load(&document, &buffers, files, &mut budget, &mut report)?;
    let mut reader = Reader::new(&document, &buffers, budget, report, options.most_influences);
    steps.begin(Stage::Skins);
    let skins = skins::build(&document, &skeleton, &mut reader)?;
    let meshes = meshes::build(&document, &mut reader, steps)?;
    steps.begin(Stage::Parts);
    let parts = parts::build(&document, &skins, &meshes, &mut reader)?;
    parts::check_scene(&document, &skeleton, &skins.skins, &parts, &mut reader.report)?;
    let clips = clips::build(&document, &parts, &mut reader, steps)?;
    steps.begin(Stage::Materials);
    let materials = materials::build(&document)?;

    steps.begin(Stage::Model);
    let model = Model::new(ModelDesc {
        name: String::new(),
        skeleton,
        skins: skins.skins,
        meshes: meshes.meshes,
        parts,
        scenes: document.scenes(),
        default_scene: document.scene,
        clips,
        materials,
        textures: images.textures,
        images: images.images,
        diagnostics: reader.report.finish(),
    })?;
    Ok(model)
}
