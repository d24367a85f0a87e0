//! WESL modules to one plain WGSL text.

use std::borrow::Cow;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use wesl::syntax::{GlobalDeclaration, Ident, PathOrigin};
use wesl::{CompileOptions, CompileResult, Diagnostic, ModulePath, ResolveError, Resolver, SourceMap};

use super::ShaderError;
use super::excerpt::{MODULE_MARK, Place, excerpt, is_whole};
use super::flags::flags;
use super::names::Names;

/// The package that holds the constants of a [`Source`]: `import constants::NAME;`.
const CONSTANTS: &str = "constants";

/// What to compose: a root module in a folder, with its flags, constants and libraries.
#[derive(Clone, Debug)]
pub struct Source<'a> {
    root: &'a Path,
    module: &'a str,
    flags: &'a [(&'a str, bool)],
    constants: &'a [(&'a str, u32)],
    libraries: Vec<(&'a str, &'a [(&'a str, &'a str)])>,
}

/// Composes a module without constants and libraries; see [`Source::compose`].
///
/// # Errors
/// Those of [`Source::compose`].
pub fn compose(root: &Path, module: &str, flags: &[(&str, bool)]) -> Result<String, ShaderError> {
    Source::new(root, module).flags(flags).compose()
}

impl<'a> Source<'a> {
    /// The module `module` (`"deform"`, `"shadow::cascade"`) of the folder `root`: `deform.wgsl`,
    /// `shadow/cascade.wgsl`.
    #[must_use]
    pub fn new(root: &'a Path, module: &'a str) -> Self {
        Self { root, module, flags: &[], constants: &[], libraries: Vec::new() }
    }

    /// Flags for `@if(..)`. A flag that the text names and this list does not is false.
    #[must_use]
    pub fn flags(self, flags: &'a [(&'a str, bool)]) -> Self {
        Self { flags, ..self }
    }

    /// Constants that a module can import: `import constants::NAME;` gives `const NAME = 3u;`.
    #[must_use]
    pub fn constants(self, constants: &'a [(&'a str, u32)]) -> Self {
        Self { constants, ..self }
    }

    /// Modules by name (`"codec"`, `"shadow::cascade"`) and text under a package name:
    /// `import sinew::codec::oct_decode;`.
    #[must_use]
    pub fn library(mut self, package: &'a str, modules: &'a [(&'a str, &'a str)]) -> Self {
        self.libraries.push((package, modules));
        self
    }

    /// The composed text: only what the entry points use, grouped by module, with all entry points of the
    /// root module and names as written wherever one module alone declares them.
    ///
    /// # Errors
    /// A flag that no module names, a module or declaration that does not exist, a syntax error, or a root
    /// module without an entry point.
    pub fn compose(&self) -> Result<String, ShaderError> {
        self.check_flags()?;
        let root = module_path(self.module);
        let names = Names::recording(root.clone());
        self.compile(&root, &names)?;
        let compiled = self.compile(&root, &names.settled())?;
        if compiled.syntax.global_declarations.is_empty() {
            let place = Place { module: self.module.into(), declaration: None, excerpt: String::new() };
            return Err(self.error("no entry point in the root module", place));
        }
        Ok(render(&compiled, &root))
    }

    fn check_flags(&self) -> Result<(), ShaderError> {
        let texts = self.libraries.iter().flat_map(|(_, modules)| modules.iter().map(|&(_, text)| text));
        let known = flags(self.root, texts);
        match self.flags.iter().find(|(flag, _)| !known.contains(*flag)) {
            Some(&(flag, _)) => Err(ShaderError::UnknownFlag {
                shader: self.module.into(),
                flag: flag.into(),
                known: known.into_iter().collect(),
            }),
            None => Ok(()),
        }
    }

    fn compile(&self, root: &ModulePath, names: &Names) -> Result<CompileResult, ShaderError> {
        let mut options = CompileOptions { mangle_root: true, validate: false, ..CompileOptions::default() };
        options.features.flags = self.flags.iter().map(|&(flag, on)| (flag.into(), on.into())).collect();
        wesl::compile_sourcemap(root, self, names, &options).map_err(|error| self.explain(error))
    }

    /// The message without terminal colours, in this module's own form.
    fn explain(&self, error: wesl::Error) -> ShaderError {
        let Diagnostic { error, detail } = Diagnostic::from(error);
        let module = detail.module_path.as_ref().map_or_else(|| self.module.to_owned(), module_name);
        let excerpt = match (&detail.source, &detail.span) {
            (Some(source), Some(span)) => excerpt(source, &span.range(), ""),
            _ => String::new(),
        };
        let message = error.to_string();
        let mention = if excerpt.is_empty() { self.mention(&message) } else { None };
        let place = mention.unwrap_or(Place { module, declaration: detail.declaration, excerpt });
        // The parser's message starts with byte offsets and ends with every token it knows.
        let message = match &*error {
            wesl::Error::ParseError(_) => message.split_once(": ").map_or(&*message, |(_, rest)| rest),
            _ => &message,
        };
        let message = message.split(", expected `\"").next().unwrap_or_default();
        self.error(message, place)
    }

    /// Where the root module names what a message without a spot is about: the last thing in backticks, such as an import
    /// that does not exist.
    fn mention(&self, message: &str) -> Option<Place> {
        let path = message.rsplit('`').nth(1)?;
        let name = path.rsplit("::").next().filter(|name| !name.is_empty())?;
        let text = self.resolve_source(&module_path(self.module)).ok()?;
        let at = find_word(&text, name)?;
        let excerpt = excerpt(&text, &(at..at + name.len()), "");
        Some(Place { module: self.module.into(), declaration: None, excerpt })
    }

    fn error(&self, message: &str, place: Place) -> ShaderError {
        ShaderError::Compose { shader: self.module.into(), message: message.into(), place: Box::new(place) }
    }

    fn library_text(&self, path: &ModulePath, package: &str) -> Result<Cow<'a, str>, ResolveError> {
        let name = path.components.join("::");
        let missing = |why: String| ResolveError::ModuleNotFound(path.clone(), why);
        let (_, modules) =
            self.libraries.iter().find(|&&(library, _)| library == package).ok_or_else(|| {
                missing(format!("no library `{package}` was given; own modules start with `package::`"))
            })?;
        modules
            .iter()
            .find(|&&(module, _)| module == name)
            .map(|&(_, text)| text.into())
            .ok_or_else(|| missing(format!("library `{package}` has no module `{name}`")))
    }
}

impl Resolver for Source<'_> {
    fn resolve_source<'b>(&'b self, path: &ModulePath) -> Result<Cow<'b, str>, ResolveError> {
        match &path.origin {
            PathOrigin::Package(package) if package.rsplit('/').next() == Some(CONSTANTS) => {
                let line = |&(name, value): &(&str, u32)| format!("const {name} = {value}u;\n");
                Ok(self.constants.iter().map(line).collect::<String>().into())
            }
            PathOrigin::Package(package) => self.library_text(path, package),
            PathOrigin::Absolute | PathOrigin::Relative(_) => {
                let file = path.components.join("/") + ".wgsl";
                fs::read_to_string(self.root.join(&file)).map(Cow::from).map_err(|error| {
                    let why = if error.kind() == ErrorKind::NotFound { "no such file" } else { "unreadable" };
                    ResolveError::ModuleNotFound(path.clone(), format!("{file}: {why}"))
                })
            }
        }
    }

    fn display_name(&self, path: &ModulePath) -> Option<String> {
        Some(module_name(path))
    }
}

/// The first place of a whole word outside of line comments.
fn find_word(text: &str, word: &str) -> Option<usize> {
    text.match_indices(word).map(|(at, _)| at).find(|&at| {
        let line = &text[text[..at].rfind('\n').map_or(0, |n| n + 1)..at];
        is_whole(text, at, word) && !line.contains("//")
    })
}

fn module_path(module: &str) -> ModulePath {
    ModulePath::new(PathOrigin::Absolute, module.split("::").map(str::to_owned).collect())
}

/// `deform` for the package's own modules, `sinew::codec` for a library's.
fn module_name(path: &ModulePath) -> String {
    match &path.origin {
        PathOrigin::Package(package) if path.components.is_empty() => package.clone(),
        PathOrigin::Package(package) => format!("{package}::{}", path.components.join("::")),
        PathOrigin::Absolute | PathOrigin::Relative(_) => path.components.join("::"),
    }
}

/// Prints the declarations with a comment wherever the module changes.
fn render(compiled: &CompileResult, root: &ModulePath) -> String {
    let mut text: String = compiled.syntax.global_directives.iter().map(|d| format!("{d}\n")).collect();
    let root = module_name(root);
    let mut last = root.clone();
    let mut declarations = Vec::with_capacity(compiled.syntax.global_declarations.len());
    for declaration in &compiled.syntax.global_declarations {
        let module = ident(declaration)
            .and_then(|ident| compiled.sourcemap.get_decl(&ident.name()).map(|(path, _)| module_name(path)));
        // Assertions have no name; they stay with what stands before them.
        last = module.unwrap_or(last);
        declarations.push((last.clone(), declaration));
    }
    // Imported modules come in any order; the same text must come out of every build.
    declarations.sort_by(|(a, _), (b, _)| (*a != root, a).cmp(&(*b != root, b)));
    let mut last = None;
    for (module, declaration) in &declarations {
        let has_body =
            matches!(&***declaration, GlobalDeclaration::Function(_) | GlobalDeclaration::Struct(_));
        if !text.is_empty() && (has_body || Some(module) != last) {
            text.push('\n');
        }
        if Some(module) != last {
            text += &format!("{MODULE_MARK}{module}\n");
            last = Some(module);
        }
        text += &format!("{declaration}\n");
    }
    text
}

fn ident(declaration: &GlobalDeclaration) -> Option<&Ident> {
    match declaration {
        GlobalDeclaration::Declaration(named) => Some(&named.ident),
        GlobalDeclaration::TypeAlias(named) => Some(&named.ident),
        GlobalDeclaration::Struct(named) => Some(&named.ident),
        GlobalDeclaration::Function(named) => Some(&named.ident),
        GlobalDeclaration::Void | GlobalDeclaration::ConstAssert(_) => None,
    }
}
