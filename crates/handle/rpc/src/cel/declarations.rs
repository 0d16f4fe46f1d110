//! What an expression may name: variables with their types, the types and enums of a schema.

use std::sync::Arc;

use buffa_descriptor::DescriptorPool;

use super::Type;

/// Names for expressions of one place: the variables have slots, in the order in which they are declared.
#[derive(Clone, Debug)]
pub struct Declarations {
    pool: Arc<DescriptorPool>,
    variables: Vec<(String, Type)>,
}

impl Declarations {
    /// No variables yet; the messages and enums of `pool` may be named.
    pub fn new(pool: &Arc<DescriptorPool>) -> Declarations {
        Declarations { pool: Arc::clone(pool), variables: Vec::new() }
    }

    /// Declares a variable, whose slot is the next.
    pub fn variable(&mut self, name: &str, kind: Type) -> &mut Declarations {
        self.variables.push((name.to_owned(), kind));
        self
    }

    /// The schema.
    pub fn pool(&self) -> &Arc<DescriptorPool> {
        &self.pool
    }

    /// The slot and the type of a variable.
    pub(super) fn find(&self, name: &str) -> Option<(usize, &Type)> {
        self.variables.iter().enumerate().find(|(_, (each, _))| each == name).map(|(slot, (_, kind))| (slot, kind))
    }

    /// All names of variables.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.variables.iter().map(|(name, _)| name.as_str())
    }
}
