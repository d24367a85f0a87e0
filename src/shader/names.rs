//! Names in the composed text: as written, unless two modules declare the same one.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use wesl::{EscapeMangler, Mangler, ModulePath};

/// Keeps every name that one module alone declares.
///
/// The compiler asks for names in no particular order, so a first composition collects who declares what
/// ([`Names::recording`]) and a second one ([`Names::settled`]) decides: the root keeps its names, a name
/// that any other module shares is written with its module's path.
#[derive(Default)]
pub(super) struct Names {
    root: Option<ModulePath>,
    declared: RefCell<HashMap<String, HashSet<ModulePath>>>,
    settled: bool,
}

impl Names {
    pub(super) fn recording(root: ModulePath) -> Self {
        Self { root: Some(root), ..Self::default() }
    }

    pub(super) fn settled(self) -> Self {
        Self { settled: true, ..self }
    }
}

impl Mangler for Names {
    fn mangle(&self, path: &ModulePath, item: &str) -> String {
        if !self.settled {
            self.declared.borrow_mut().entry(item.to_owned()).or_default().insert(path.clone());
            return EscapeMangler.mangle(path, item);
        }
        let shared = self.declared.borrow().get(item).is_some_and(|modules| modules.len() > 1);
        if shared && self.root.as_ref() != Some(path) {
            EscapeMangler.mangle(path, item)
        } else {
            item.to_owned()
        }
    }
}
