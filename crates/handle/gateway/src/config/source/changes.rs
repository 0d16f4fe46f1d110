use std::collections::HashMap;

use super::{Setting, Source};

/// What differs between two files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Only the new one has it.
    Added(Setting),
    /// Both have it, with other values.
    Changed(Setting),
    /// Only the old one has it; the place is that in the old file.
    Removed(Setting),
}

impl Source {
    /// What is another since `before`: by path, so that a route that comes in between moves all behind it. Changes of files that
    /// the configuration names are not among them. Costs a walk through both.
    pub fn changes(&self, before: &Self) -> Vec<Change> {
        let mut old: HashMap<String, Setting> = HashMap::new();
        before.each("", |setting| {
            old.insert(setting.path.clone(), setting);
        });
        let mut changes = Vec::new();
        self.each("", |setting| match old.remove(&setting.path) {
            None => changes.push(Change::Added(setting)),
            Some(known) if (&known.value, known.hash) != (&setting.value, setting.hash) => {
                changes.push(Change::Changed(setting));
            }
            Some(_) => {}
        });
        let mut gone: Vec<Setting> = old.into_values().collect();
        gone.sort_by_key(|setting| setting.place);
        changes.extend(gone.into_iter().map(Change::Removed));
        changes
    }
}
