//! Channels that the typed parse would refuse: without a node (legal, an extension drives them) or with an
//! unknown path. What `KHR_animation_pointer` says about a node becomes a plain channel; the rest is dropped.

use serde_json::{Value, json};

use super::{
    ImportError,
    codes::{self, Report},
    prune::Object,
};

const PATHS: [&str; 4] = ["translation", "rotation", "scale", "weights"];

/// Different pointers that a diagnostic spells out.
const SPELLED: usize = 8;

pub(super) fn resolve<'a>(
    animations: impl Iterator<Item = &'a mut Object>,
    report: &mut Report,
) -> Result<(), ImportError> {
    for (a, animation) in animations.enumerate() {
        let Some(channels) = animation.get_mut("channels").and_then(Value::as_array_mut) else { continue };
        let mut dropped = Dropped::default();
        channels.retain_mut(|channel| match channel.get_mut("target").and_then(Value::as_object_mut) {
            Some(target) => keep(target, &mut dropped),
            None => true,
        });
        dropped.report(&format!("animations[{a}].channels"), report)?;
    }
    Ok(())
}

#[derive(Default)]
struct Dropped {
    without_node: usize,
    unknown: usize,
    by_pointer: usize,
    /// The first few different ones.
    pointers: Vec<String>,
}

/// Whether the channel drives a node; rewrites its target where a pointer says so.
fn keep(target: &mut Object, dropped: &mut Dropped) -> bool {
    let path = target.get("path").and_then(Value::as_str);
    if !target.contains_key("node") {
        let pointer = target.get("extensions").and_then(|e| e.get("KHR_animation_pointer"));
        let Some(pointer) = pointer.and_then(|p| p.get("pointer")).and_then(Value::as_str) else {
            dropped.without_node += 1;
            return false;
        };
        let Some((node, path)) = node_of(pointer) else {
            dropped.by_pointer += 1;
            let pointer: String = pointer.chars().take(80).collect();
            if dropped.pointers.len() <= SPELLED && !dropped.pointers.contains(&pointer) {
                dropped.pointers.push(pointer);
            }
            return false;
        };
        let plain = json!({ "node": node, "path": path });
        if let Value::Object(plain) = plain {
            *target = plain;
        }
        return true;
    }
    let known = path.is_none_or(|p| PATHS.contains(&p));
    dropped.unknown += usize::from(!known);
    known
}

/// `/nodes/3/rotation` is what a plain channel says too.
fn node_of(pointer: &str) -> Option<(u32, &'static str)> {
    let (node, path) = pointer.strip_prefix("/nodes/")?.split_once('/')?;
    let path = PATHS.into_iter().find(|p| *p == path)?;
    Some((node.parse().ok()?, path))
}

impl Dropped {
    fn report(self, place: &str, report: &mut Report) -> Result<(), ImportError> {
        if self.without_node > 0 {
            let message = format!("{} channels without a target node were dropped", self.without_node);
            report.add_with(
                codes::CHANNEL_WITHOUT_NODE,
                place,
                message,
                [("channels", self.without_node as f64)],
            )?;
        }
        if self.by_pointer > 0 {
            let more = if self.pointers.len() > SPELLED { ", and more" } else { "" };
            let spelled = self.pointers[..self.pointers.len().min(SPELLED)].join(", ");
            let message = format!("{} channels were dropped, which drive {spelled}{more}", self.by_pointer);
            report.add_with(
                codes::CHANNEL_POINTER_IGNORED,
                place,
                message,
                [("channels", self.by_pointer as f64)],
            )?;
        }
        if self.unknown > 0 {
            let message = format!("{} channels with an unknown path were dropped", self.unknown);
            report.add_with(
                codes::CHANNEL_PATH_UNKNOWN,
                place,
                message,
                [("channels", self.unknown as f64)],
            )?;
        }
        Ok(())
    }
}
