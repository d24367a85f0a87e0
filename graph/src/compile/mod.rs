//! Declarations to a plan, one file per step.

mod attach;
mod colour;
mod csr;
mod cull;
mod edges;
mod lifetime;
mod order;
mod pack;
mod problem;
mod texture;
mod validate;

#[doc(hidden)]
pub use colour::Colouring;

use std::{ops::Range, sync::Arc};

use crate::{
    compile::problem::Problem,
    decl::{Declarations, Value},
    error::GraphErrors,
    fingerprint::Fingerprint,
    handle::{GraphId, Label},
    limits::Limits,
    plan::{Body, CullReason, Plan, ValuePlace},
};

/// Stages that a test can switch off to show that a check notices.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct CompileOptions {
    /// Keep what one pass reads and writes in different arenas.
    pub colour: Colouring,
    /// Keep transients that are alive together from sharing bytes.
    pub lifetimes: bool,
}

impl Default for CompileOptions {
    fn default() -> Self {
        Self { colour: Colouring::Balanced, lifetimes: true }
    }
}

/// A number for the declarations and limits that a plan is made from.
pub(crate) fn fingerprint(decl: &Declarations, limits: &Limits) -> u64 {
    Fingerprint::of(&(decl.fingerprint(), limits.bounded()))
}

pub(crate) fn compile(
    decl: &Declarations,
    family: GraphId,
    limits: &Limits,
    options: CompileOptions,
) -> Result<Plan, GraphErrors> {
    let _span = tracing::debug_span!("compile", passes = decl.passes.len()).entered();
    let limits = &limits.bounded();
    let mut errors = validate::validate(decl, limits);
    let mut edges = edges::edges(decl, &mut errors);
    validate::exports(decl, &edges, &mut errors);
    let exported = cull::exported(decl, &edges);
    let alive = cull::cull(decl, &edges, &exported, &mut errors);
    edges.bridge(decl, &alive);
    let order = order::order(decl, &edges, &alive, &mut errors);
    if !errors.is_empty() {
        return Err(GraphErrors(errors));
    }
    let mut lives = lifetime::lifetimes(decl, &order, &exported, limits);
    validate::pack_sizes(decl, limits, &lives, &mut errors);
    if !errors.is_empty() {
        return Err(GraphErrors(errors));
    }
    let problem = Problem::new(decl, &order, &lives, limits);
    let colours = colour::colour(&problem, options);
    let arenas = pack::pack(&problem, &colours, &lives, limits, options);
    pack::place(&mut lives.buffers, &arenas.placements);
    let passes = attach::passes(decl, &order, &lives);
    validate::upload_size(passes.upload_bytes, limits, &mut errors);
    if !errors.is_empty() {
        return Err(GraphErrors(errors));
    }
    let textures = texture::slots(decl, &order, &passes.memoryless);
    let [filled, filled_textures] = lifetime::filled(decl, &order);

    let plan = Plan {
        graph: decl.id,
        family,
        shape: decl.fingerprint(),
        body: Arc::new(Body {
            fingerprint: fingerprint(decl, limits),
            upload_bytes: passes.upload_bytes,
            passes: passes.passes,
            uses: passes.uses,
            culled: cull::reasons(decl, &alive),
            live_bytes: lives.lower_bound(order.len()),
            labels: labels(decl, &lives.values),
            values: lives.values,
            packs: lives.packs,
            buffers: lives.buffers,
            arenas: arenas.arenas,
            textures: textures.textures,
            slots: textures.slots,
            kept: lives.kept,
            kept_textures: textures.kept,
            kept_values: kept_values(decl),
            kept_texture_values: kept_textures(decl),
            exported: (0..)
                .zip(&decl.values)
                .filter(|(_, value)| value.exported)
                .map(|(index, _)| index)
                .collect(),
            filled,
            filled_textures,
        }),
    };
    explain(&plan);
    Ok(plan)
}

/// By value: its name, where that of its buffer is not enough.
fn labels(decl: &Declarations, values: &[Option<ValuePlace>]) -> Vec<Label> {
    let both = decl.values.iter().zip(values);
    let label = |(value, place): (&Value, &Option<ValuePlace>)| match place {
        Some(place) if place.in_pack => value.label.clone(),
        _ => Label::Borrowed(""),
    };
    both.map(label).collect()
}

/// The values of every kept storage, and which it is.
fn kept_values(decl: &Declarations) -> Vec<(Range<u32>, u32)> {
    let sides = (0..).zip(&decl.kept).flat_map(|(index, kept)| {
        let sides = std::iter::once(kept.resource).chain(kept.previous);
        sides.map(move |storage| (storage, index))
    });
    sides.map(|(storage, index)| (decl.storages[storage as usize].members.clone(), index)).collect()
}

/// Every kept texture, and which it is.
fn kept_textures(decl: &Declarations) -> Vec<(u32, u32)> {
    let sides = (0..).zip(&decl.kept_textures).flat_map(|(index, kept)| {
        let sides = std::iter::once(kept.resource).chain(kept.previous);
        sides.map(move |texture| (texture, index))
    });
    sides.collect()
}

/// One event per decision that a reader of the declarations would not expect.
fn explain(plan: &Plan) {
    for pass in plan.culled() {
        let label = &*pass.label;
        match &pass.reason {
            CullReason::Disabled => tracing::debug!(label, reason = "disabled", "culled"),
            CullReason::WritesNothing => tracing::debug!(label, reason = "writes nothing", "culled"),
            CullReason::Unread { resources } => {
                tracing::debug!(label, reason = "unread", ?resources, "culled");
            }
        }
    }
    let saved = plan.unaliased_bytes().saturating_sub(plan.peak_bytes());
    if saved > 0 {
        tracing::debug!(arenas = plan.arenas().len(), peak_bytes = plan.peak_bytes(), saved, "aliased");
    }
}
