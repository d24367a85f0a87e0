use std::{
    fmt,
    marker::PhantomData,
    sync::atomic::{AtomicU32, Ordering},
};

/// A generational handle: it stops being valid when what it names is removed, and never names anything else.
pub struct Handle<T> {
    /// Number of the list it belongs to.
    owner: u32,
    index: u32,
    generation: u32,
    kind: PhantomData<fn() -> T>,
}

impl<T> Clone for Handle<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Handle<T> {}
impl<T> PartialEq for Handle<T> {
    fn eq(&self, other: &Self) -> bool {
        (self.owner, self.index, self.generation) == (other.owner, other.index, other.generation)
    }
}
impl<T> Eq for Handle<T> {}
impl<T> std::hash::Hash for Handle<T> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        (self.owner, self.index, self.generation).hash(state);
    }
}
impl<T> fmt::Debug for Handle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}v{}", self.index, self.generation)
    }
}

/// Values behind handles. Free places are used again under a new generation.
#[derive(Debug)]
pub(crate) struct Slots<K, T> {
    owner: u32,
    entries: Vec<(u32, Option<T>)>,
    free: Vec<u32>,
    kind: PhantomData<fn() -> K>,
}

impl<K, T> Default for Slots<K, T> {
    fn default() -> Self {
        // Numbers lists and nothing else, so that a handle of another one is told apart.
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let owner = NEXT.fetch_add(1, Ordering::Relaxed);
        Self { owner, entries: Vec::new(), free: Vec::new(), kind: PhantomData }
    }
}

impl<K, T> Slots<K, T> {
    pub(crate) fn insert(&mut self, value: T) -> Handle<K> {
        let index = self.free.pop().unwrap_or_else(|| {
            self.entries.push((0, None));
            self.entries.len() as u32 - 1
        });
        let entry = &mut self.entries[index as usize];
        entry.1 = Some(value);
        Handle { owner: self.owner, index, generation: entry.0, kind: PhantomData }
    }

    pub(crate) fn get(&self, handle: Handle<K>) -> Option<&T> {
        let entry = self.entries.get(handle.index as usize)?;
        if (self.owner, entry.0) == (handle.owner, handle.generation) { entry.1.as_ref() } else { None }
    }

    pub(crate) fn get_mut(&mut self, handle: Handle<K>) -> Option<&mut T> {
        let entry = self.entries.get_mut(handle.index as usize)?;
        if (self.owner, entry.0) == (handle.owner, handle.generation) { entry.1.as_mut() } else { None }
    }

    pub(crate) fn remove(&mut self, handle: Handle<K>) -> Option<T> {
        self.get(handle)?;
        let entry = &mut self.entries[handle.index as usize];
        // A place whose generations are used up is retired.
        if let Some(next) = entry.0.checked_add(1) {
            entry.0 = next;
            self.free.push(handle.index);
        }
        entry.1.take()
    }

    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.entries.iter_mut().filter_map(|(_, value)| value.as_mut())
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (Handle<K>, &T)> {
        (0u32..).zip(&self.entries).filter_map(|(index, (generation, value))| {
            let handle = Handle { owner: self.owner, index, generation: *generation, kind: PhantomData };
            value.as_ref().map(|v| (handle, v))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_removed_handle_is_stale_even_when_its_place_is_used_again() {
        let mut slots: Slots<(), u32> = Slots::default();
        let old = slots.insert(1);
        assert_eq!(slots.remove(old), Some(1));
        let new = slots.insert(2);
        assert_eq!((slots.get(old), slots.get(new)), (None, Some(&2)));
        assert_eq!(slots.remove(old), None);
    }

    #[test]
    fn a_handle_of_another_list_is_refused() {
        let (mut a, mut b): (Slots<(), u32>, Slots<(), u32>) = Default::default();
        let (in_a, in_b) = (a.insert(1), b.insert(2));
        assert_eq!((a.get(in_b), b.get(in_a)), (None, None));
    }

    #[test]
    fn places_are_used_again() {
        let mut slots: Slots<(), u32> = Slots::default();
        for i in 0..10_000 {
            let handle = slots.insert(i);
            slots.remove(handle);
        }
        assert_eq!(slots.entries.len(), 1);
    }
}
