//! Mutated files: whatever the outcome, no panic, no file outside the folder, bounded memory and time.
//!
//! `SINEW_FUZZ_FILES` files are made from `SINEW_FUZZ_SEED`, beginning with number `SINEW_FUZZ_FIRST`; a failure names
//! its number, which alone makes the file again.

mod corpus;
mod mutate;
mod places;
mod random;
mod usage;
mod values;

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    env, io,
    panic::{self, AssertUnwindSafe},
    thread,
    time::{Duration, Instant},
};

use sinew::{
    Model,
    import::{ImportOptions, Limits, Progress, Stage},
};

pub(crate) use self::random::Random;
use self::{
    corpus::{Seed, seeds},
    places::Places,
};

/// Files in an ordinary test run.
const FILES: u64 = 4000;
/// Least share of files that get as far as the first accessor.
const DEEP: f64 = 0.3;
/// Most memory of the process.
const MEMORY: u64 = 512 << 20;
/// A file that takes longer hangs. Debug builds are slow.
const SLOW: Duration = Duration::from_secs(20);

/// How a file ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    Refused(Stage),
    Loaded,
}

/// What a thread saw.
#[derive(Default)]
struct Seen {
    ends: BTreeMap<End, u64>,
    used: u64,
    slowest: Duration,
    failures: Vec<String>,
}

#[test]
fn mutated_files_never_panic_leave_the_folder_or_take_much_memory() {
    let number = |name: &str, or: u64| env::var(name).map_or(or, |text| text.parse().unwrap());
    let (files, seed) = (number("SINEW_FUZZ_FILES", FILES), number("SINEW_FUZZ_SEED", 1));
    let numbers = number("SINEW_FUZZ_FIRST", 0)..number("SINEW_FUZZ_FIRST", 0) + files;
    let corpus: Vec<(Seed, Places)> = seeds().into_iter().map(|s| (s.clone(), Places::of(&s.json))).collect();
    let threads = thread::available_parallelism().map_or(1, |n| n.get()) as u64;
    let start = Instant::now();
    let corpus = &corpus;
    let seen: Vec<Seen> = thread::scope(|scope| {
        let run = |thread: u64| {
            let mine = numbers.clone().filter(move |n| n % threads == thread);
            scope.spawn(move || mine.fold(Seen::default(), |seen, n| seen.with(corpus, seed, n)))
        };
        let running: Vec<_> = (0..threads).map(run).collect();
        running.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let total = seen.into_iter().reduce(Seen::and).unwrap();
    let memory = crate::peak_memory();
    println!("{files} files of seed {seed} in {:.0} s", start.elapsed().as_secs_f64());
    total.print(memory);
    assert!(total.failures.is_empty(), "{:#?}", total.failures);
    assert!(total.deep() >= DEEP * files as f64, "few files got as far as the accessors");
    assert!(memory.is_none_or(|bytes| bytes <= MEMORY), "{memory:?} bytes at the peak");
}

impl Seen {
    /// And file `number`.
    fn with(mut self, corpus: &[(Seed, Places)], seed: u64, number: u64) -> Self {
        let mut random = Random::new(seed, number);
        let (mut document, places) = pick(corpus, &mut random);
        mutate::mutate(&mut document, places, &mut random);
        let mut bytes = document.to_bytes();
        if random.one_in(16) {
            mutate::damage(&mut bytes, &mut random);
        }
        let start = Instant::now();
        let tried = panic::catch_unwind(AssertUnwindSafe(|| try_file(&bytes, &document, number)));
        let took = start.elapsed();
        self.slowest = self.slowest.max(took);
        let mut fail =
            |what: &str| self.failures.push(format!("file {number}, from {}: {what}", document.name));
        match tried {
            Ok(Ok((end, used))) => {
                *self.ends.entry(end).or_default() += 1;
                self.used += u64::from(used);
            }
            Ok(Err(problem)) => fail(&problem),
            Err(_) => fail("panicked"),
        }
        if took > SLOW {
            self.failures.push(format!("file {number} took {took:?}"));
        }
        self
    }

    fn and(mut self, other: Self) -> Self {
        other.ends.into_iter().for_each(|(end, count)| *self.ends.entry(end).or_default() += count);
        self.used += other.used;
        self.slowest = self.slowest.max(other.slowest);
        self.failures.extend(other.failures);
        self
    }

    /// Files that got as far as the first accessor.
    fn deep(&self) -> f64 {
        self.ends.iter().filter(|(end, _)| **end >= End::Refused(Stage::Skins)).map(|(_, n)| *n as f64).sum()
    }

    #[expect(clippy::print_stdout, reason = "what a run is made for")]
    fn print(&self, memory: Option<u64>) {
        let all: u64 = self.ends.values().sum();
        let share = |count: f64| 100.0 * count / all.max(1) as f64;
        for stage in Stage::ALL {
            let count = self.ends.get(&End::Refused(*stage)).copied().unwrap_or(0);
            println!("{stage:>10} {count:>8} {:5.1}%", share(count as f64));
        }
        let loaded = self.ends.get(&End::Loaded).copied().unwrap_or(0);
        println!("{:>10} {loaded:>8} {:5.1}%", "loaded", share(loaded as f64));
        println!("animated, deformed, exported and read back: {}", self.used);
        println!("as far as the first accessor: {:.1}%", share(self.deep()));
        let mib = memory.map_or("unknown".into(), |bytes| format!("{} MiB", bytes >> 20));
        println!("slowest file: {:?}, peak memory of the process: {mib}", self.slowest);
    }
}

fn pick<'a>(corpus: &'a [(Seed, Places)], random: &mut Random) -> (Seed, &'a Places) {
    let mut at = random.below(corpus.iter().map(|(seed, _)| seed.weight).sum());
    for (seed, places) in corpus {
        if at < seed.weight {
            return (seed.clone(), places);
        }
        at -= seed.weight;
    }
    unreachable!("the weights sum up to more than {at}")
}

/// Loads and uses a file; a message when something happened that must not.
fn try_file(bytes: &[u8], document: &Seed, number: u64) -> Result<(End, bool), String> {
    let outside = RefCell::new(None);
    let resolver = |name: &str| {
        if !is_inside(name) {
            outside.replace(Some(name.to_owned()));
        }
        document.files.get(name).cloned().ok_or_else(|| io::ErrorKind::NotFound.into())
    };
    let stage = Cell::new(Stage::Container);
    let progress = |progress: Progress| stage.set(progress.stage);
    let mut limits = Limits::default();
    limits.decoded_bytes = 8 << 20;
    let strict = number % 8 == 7;
    let options = ImportOptions {
        strict,
        resolver: Some(&resolver),
        limits,
        progress: Some(&progress),
        ..ImportOptions::default()
    };
    let loaded = Model::from_bytes(bytes, &options);
    if let Some(name) = outside.take() {
        return Err(format!("the resolver was asked for {name:?}"));
    }
    match loaded {
        Err(error) => {
            // Messages are made of the file's own words.
            let _ = format!("{error} {}", error.help());
            Ok((End::Refused(stage.get()), false))
        }
        Ok(model) => Ok((End::Loaded, usage::try_use(&model, number)?)),
    }
}

/// Below the folder, on any system.
fn is_inside(name: &str) -> bool {
    let plain = |part: &str| !part.is_empty() && part != "." && part != "..";
    !name.contains(['\\', ':', '\0']) && name.split('/').all(plain)
}
