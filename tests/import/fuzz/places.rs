//! Where a document has what: JSON pointers by the name of the property.

use std::collections::BTreeMap;

use serde_json::Value;

use super::random::Random;

pub(super) struct Places {
    /// Numbers, strings and booleans. Grouped, so that a property that is there once is as likely to change as one of
    /// which there are hundreds.
    values: Vec<(String, Vec<String>)>,
    lists: Vec<String>,
}

impl Places {
    pub(super) fn of(json: &Value) -> Self {
        let (mut values, mut lists) = (BTreeMap::new(), Vec::new());
        walk(json, "", &mut String::new(), &mut values, &mut lists);
        Self { values: values.into_iter().collect(), lists }
    }

    /// A property's name and a place of it.
    pub(super) fn value(&self, random: &mut Random) -> Option<(&str, &str)> {
        let (key, pointers) = self.values.get(random.below(self.values.len()))?;
        Some((key, random.pick(pointers).as_str()))
    }

    /// Two places of one property.
    pub(super) fn pair(&self, random: &mut Random) -> Option<(&str, &str)> {
        let (_, pointers) = self.values.get(random.below(self.values.len()))?;
        Some((random.pick(pointers).as_str(), random.pick(pointers).as_str()))
    }

    pub(super) fn list(&self, random: &mut Random) -> Option<&str> {
        self.lists.get(random.below(self.lists.len())).map(String::as_str)
    }
}

fn walk(
    value: &Value,
    key: &str,
    pointer: &mut String,
    values: &mut BTreeMap<String, Vec<String>>,
    lists: &mut Vec<String>,
) {
    let length = pointer.len();
    match value {
        Value::Array(list) => {
            lists.push(pointer.clone());
            for (index, value) in list.iter().enumerate() {
                pointer.push_str(&format!("/{index}"));
                walk(value, key, pointer, values, lists);
                pointer.truncate(length);
            }
        }
        Value::Object(object) => {
            for (key, value) in object {
                pointer.push('/');
                pointer.push_str(key);
                walk(value, key, pointer, values, lists);
                pointer.truncate(length);
            }
        }
        _ => values.entry(key.into()).or_default().push(pointer.clone()),
    }
}
