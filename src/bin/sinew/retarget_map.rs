//! The file of `sinew retarget --map`: names of joints, and options.

use std::{collections::BTreeMap, fs, path::Path};

use glam::{Quat, Vec3};
use serde_json::{Map, Value};
use sinew::retarget::{Align, Hip};

use crate::failure::Failure;

/// What the file says, as far as it says it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct RetargetMap {
    pub(crate) names: Option<BTreeMap<String, String>>,
    /// In the place of what is found.
    pub(crate) hip: Option<Hip>,
    pub(crate) hip_influence: Option<Vec3>,
    pub(crate) hip_position: Option<Vec3>,
    pub(crate) hip_ratio: Option<f32>,
    pub(crate) scale: Option<f32>,
    pub(crate) turn: Option<Quat>,
    pub(crate) local_offsets: BTreeMap<String, Quat>,
    pub(crate) align: Option<Align>,
    pub(crate) source_rest: Option<Moment>,
    pub(crate) target_rest: Option<Moment>,
    pub(crate) preserve_bone_matrix: Option<bool>,
    pub(crate) preserve_bone_positions: Option<bool>,
    pub(crate) use_target_matrix: Option<bool>,
}

/// A pose of a model: one of its clips at a time.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Moment {
    /// Name or index.
    pub(crate) clip: String,
    /// Seconds.
    pub(crate) time: f32,
}

impl RetargetMap {
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        let text = fs::read_to_string(path)
            .map_err(|error| Failure::new(format_args!("cannot read `{}`: {error}", path.display())))?;
        parse(&text).map_err(|problem| {
            Failure::new(format_args!("`{}` is no map of joints: {problem}", path.display())).help(
                r#"write {"target joint": "source joint"}, or {"names": {...}, "hip": "Hips"}; `sinew retarget --help` lists all keys"#,
            )
        })
    }
}

/// A file with a key `names` holds options, any other is a plain table of names.
fn parse(text: &str) -> Result<RetargetMap, String> {
    let value: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let Value::Object(object) = value else { return Err("it is no object".into()) };
    if !object.get("names").is_some_and(|names| names.is_object() || names.is_null()) {
        return Ok(RetargetMap { names: Some(names(&object)?), ..Default::default() });
    }
    let mut map = RetargetMap::default();
    for (key, value) in &object {
        let flag = || value.as_bool().ok_or_else(|| format!("`{key}` must be true or false"));
        match key.as_str() {
            "names" => map.names = value.as_object().map(names).transpose()?,
            "hip" => {
                let name = value.as_str().map(str::to_owned);
                if name.is_none() && !value.is_null() {
                    return Err("`hip` must be a name, or null".into());
                }
                map.hip = Some(name.map_or(Hip::None, Hip::Named));
            }
            "hip_influence" => map.hip_influence = Some(floats(key, value)?.into()),
            "hip_position" => map.hip_position = Some(floats(key, value)?.into()),
            "hip_ratio" => map.hip_ratio = Some(float(key, value)?),
            "scale" => map.scale = Some(float(key, value)?),
            "turn" => map.turn = Some(Quat::from_array(floats(key, value)?)),
            "local_offsets" => {
                let offsets = value.as_object().ok_or("`local_offsets` must be an object of rotations")?;
                for (joint, offset) in offsets {
                    map.local_offsets.insert(joint.clone(), Quat::from_array(floats(joint, offset)?));
                }
            }
            "align" => map.align = Some(align_of(value)?),
            "source_rest" => map.source_rest = Some(moment(key, value)?),
            "target_rest" => map.target_rest = Some(moment(key, value)?),
            "preserve_bone_matrix" => map.preserve_bone_matrix = Some(flag()?),
            "preserve_bone_positions" => map.preserve_bone_positions = Some(flag()?),
            "use_target_matrix" => map.use_target_matrix = Some(flag()?),
            _ => return Err(format!("there is no option `{key}`")),
        }
    }
    Ok(map)
}

fn names(object: &Map<String, Value>) -> Result<BTreeMap<String, String>, String> {
    let name = |(target, source): (&String, &Value)| match source.as_str() {
        Some(source) => Ok((target.clone(), source.to_owned())),
        None => Err(format!("`{target}` must be followed by the name of a source joint")),
    };
    object.iter().map(name).collect()
}

fn align_of(value: &Value) -> Result<Align, String> {
    let wrong = || "`align` must be \"far\", \"off\" or a list of target joints".to_owned();
    if let Some(text) = value.as_str() {
        return match text {
            "far" => Ok(Align::Far),
            "off" => Ok(Align::Off),
            _ => Err(wrong()),
        };
    }
    let names = value.as_array().ok_or_else(wrong)?.iter().map(|name| name.as_str().map(str::to_owned));
    names.collect::<Option<_>>().map(Align::Joints).ok_or_else(wrong)
}

fn float(key: &str, value: &Value) -> Result<f32, String> {
    value.as_f64().map(|number| number as f32).ok_or_else(|| format!("`{key}` must be a number"))
}

fn floats<const N: usize>(key: &str, value: &Value) -> Result<[f32; N], String> {
    let wrong = || format!("`{key}` must be a list of {N} numbers");
    let list = value.as_array().filter(|list| list.len() == N).ok_or_else(wrong)?;
    let mut out = [0.0; N];
    for (out, number) in out.iter_mut().zip(list) {
        *out = number.as_f64().ok_or_else(wrong)? as f32;
    }
    Ok(out)
}

fn moment(key: &str, value: &Value) -> Result<Moment, String> {
    let clip = match value.get("clip") {
        Some(Value::String(name)) => Some(name.clone()),
        Some(Value::Number(index)) => Some(index.to_string()),
        _ => None,
    };
    let time = value.get("time").map_or(Some(0.0), Value::as_f64).filter(|time| *time >= 0.0);
    match (clip, time) {
        (Some(clip), Some(time)) => Ok(Moment { clip, time: time as f32 }),
        _ => Err(format!(r#"`{key}` must be {{"clip": NAME or INDEX, "time": SECONDS}}"#)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_table_is_a_map_even_with_a_joint_called_names() {
        let map = parse(r#"{"names": "Names", "hip": "Hips"}"#).unwrap();
        let names = [("hip", "Hips"), ("names", "Names")].map(|(t, s)| (t.to_owned(), s.to_owned()));
        assert_eq!(map, RetargetMap { names: Some(names.into()), ..Default::default() });
    }

    #[test]
    fn options_stand_beside_names() {
        let map = parse(
            r#"{"names": null, "hip": null, "hip_influence": [1, 0, 1], "turn": [0, 1, 0, 0], "use_target_matrix": true,
                "local_offsets": {"arm": [0, 0, 0, 1]}, "source_rest": {"clip": 2}, "scale": 2,
                "align": ["arm"]}"#,
        )
        .unwrap();
        let wanted = RetargetMap {
            hip: Some(Hip::None),
            hip_influence: Some(Vec3::new(1.0, 0.0, 1.0)),
            turn: Some(Quat::from_xyzw(0.0, 1.0, 0.0, 0.0)),
            use_target_matrix: Some(true),
            local_offsets: [("arm".to_owned(), Quat::IDENTITY)].into(),
            align: Some(Align::Joints(["arm".to_owned()].into())),
            source_rest: Some(Moment { clip: "2".into(), time: 0.0 }),
            scale: Some(2.0),
            ..Default::default()
        };
        assert_eq!(map, wanted);
    }

    #[test]
    fn a_wrong_option_is_refused_by_its_name() {
        for (text, problem) in [
            ("[]", "it is no object"),
            (r#"{"arm": 1}"#, "`arm` must be followed by the name of a source joint"),
            (r#"{"names": {}, "hips": "a"}"#, "there is no option `hips`"),
            (r#"{"names": {}, "hip": 3}"#, "`hip` must be a name, or null"),
            (r#"{"names": {}, "hip_position": [1, 2]}"#, "`hip_position` must be a list of 3 numbers"),
            (
                r#"{"names": {}, "align": "near"}"#,
                r#"`align` must be "far", "off" or a list of target joints"#,
            ),
            (r#"{"names": {}, "scale": "2"}"#, "`scale` must be a number"),
            (r#"{"names": {}, "use_target_matrix": 1}"#, "`use_target_matrix` must be true or false"),
            (
                r#"{"names": {}, "target_rest": {"time": 1}}"#,
                r#"`target_rest` must be {"clip": NAME or INDEX, "time": SECONDS}"#,
            ),
        ] {
            assert_eq!(parse(text).unwrap_err(), problem);
        }
    }
}
