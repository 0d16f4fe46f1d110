use std::fmt;

/// Changes to the fields of a message, applied in this order: remove, set, add.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct FieldEdits {
    pub(super) remove: Vec<String>,
    pub(super) set: Vec<(String, String)>,
    pub(super) add: Vec<(String, String)>,
}

impl FieldEdits {
    /// Whether nothing is changed.
    pub fn is_empty(&self) -> bool {
        self.remove.is_empty() && self.set.is_empty() && self.add.is_empty()
    }

    /// Names of fields that are removed, in any case.
    pub fn remove(&self) -> &[String] {
        &self.remove
    }

    /// Fields that replace all of their name.
    pub fn set(&self) -> &[(String, String)] {
        &self.set
    }

    /// Fields that are appended.
    pub fn add(&self) -> &[(String, String)] {
        &self.add
    }
}

/// Values may be credentials, so they are not shown.
impl fmt::Debug for FieldEdits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fn names(pairs: &[(String, String)]) -> Vec<&str> {
            pairs.iter().map(|(name, _)| name.as_str()).collect()
        }
        f.debug_struct("FieldEdits")
            .field("remove", &self.remove)
            .field("set", &names(&self.set))
            .field("add", &names(&self.add))
            .finish()
    }
}
