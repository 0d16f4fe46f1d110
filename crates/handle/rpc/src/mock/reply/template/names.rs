//! What templates may name.

use std::sync::Arc;

use buffa_descriptor::{DescriptorPool, MessageIndex};

use crate::cel::{Declarations, Type};

macro_rules! variables {
    ($($index:literal $constant:ident $name:literal $meaning:literal,)+) => {
        /// A set of variables: those that a template names. What nobody names is not prepared.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub(in crate::mock::reply) struct Uses(u32);

        impl Uses {
            $(pub(in crate::mock::reply) const $constant: Self = Self(1 << $index);)+
            /// Random numbers, which have no variable.
            pub(in crate::mock::reply) const DRAWS: Self = Self(1 << 31);
        }

        /// Every variable with its meaning, in the order of their slots.
        pub(in crate::mock::reply) const VARIABLES: &[(&str, &str)] = &[$(($name, $meaning)),+];
    };
}

variables! {
    0 REQUEST "request" "the request; of a stream of requests the first one",
    1 REQUESTS "requests" "all requests so far",
    2 UNANSWERED "unanswered" "the requests since the last message that was sent",
    3 LAST "last" "the last request so far",
    4 METADATA "metadata" "the request's metadata: the first value of each name, as it was sent",
    5 METADATA_ALL "metadata_all" "the same with lists of all values",
    6 CALL "call" "which call of this rule in this session it is, from 1",
    7 INDEX "index" "which message of the reply it is, from 0",
    8 ITEM "item" "the element that an `each` is at",
    9 RECEIVED "received" "how many requests there were so far",
    10 SESSION "session" "the session's key, or empty text",
    11 STATE "state" "the state of the rule's scenario, after this call",
    12 NOW "now" "the time, as a timestamp",
    13 FAKE "fake" "made-up data, such as `fake.name`",
    14 TIMEOUT_MS "timeout_ms" "how long the client would wait, or `null`",
    15 METHOD "method" "the method's full name",
    16 PEER "peer" "the client's address",
    17 QUERY "query" "of a request by GET all values of each name in the query, else `null`",
}

/// How many variables there are.
pub(super) const COUNT: usize = VARIABLES.len();

impl Uses {
    pub(in crate::mock::reply) const NONE: Self = Self(0);

    /// The variable in this slot.
    pub(super) const fn slot(index: usize) -> Self {
        Self(1 << index)
    }

    /// The slot of a single variable.
    pub(super) const fn index(self) -> usize {
        self.0.trailing_zeros() as usize
    }

    /// Whether one of `others` is among these.
    pub(in crate::mock::reply) const fn any(self, others: Self) -> bool {
        self.0 & others.0 != 0
    }

    /// Both.
    pub(in crate::mock::reply) const fn and(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }
}

/// The names that templates of one rule may use, with their types.
#[derive(Clone, Debug)]
pub(in crate::mock::reply) struct Names {
    declarations: Declarations,
    pool: Arc<DescriptorPool>,
    input: MessageIndex,
    templates: bool,
}

impl Names {
    /// Without `templates`, text is text whatever is in it.
    pub(in crate::mock::reply) fn new(pool: &Arc<DescriptorPool>, input: MessageIndex, templates: bool) -> Self {
        Self::with_item(pool, input, Type::Dyn, templates)
    }

    /// Whether a text is a template.
    pub(in crate::mock::reply) fn is_template(&self, text: &str) -> bool {
        self.templates && text.contains("{{")
    }

    /// The same names where text may have templates.
    pub(super) fn with_templates(&self) -> Self {
        Self { templates: true, ..self.clone() }
    }

    /// The same names where `item` is an element of this list.
    pub(in crate::mock::reply) fn inside(&self, list: &Type) -> Self {
        let item = match list {
            Type::List(of) => (**of).clone(),
            _ => Type::Dyn,
        };
        Self::with_item(&self.pool, self.input, item, self.templates)
    }

    fn with_item(pool: &Arc<DescriptorPool>, input: MessageIndex, item: Type, templates: bool) -> Self {
        let request = || Type::message(pool, input);
        let mut declarations = Declarations::new(pool);
        for (name, _) in VARIABLES {
            let kind = match *name {
                "request" | "last" => request(),
                "requests" | "unanswered" => Type::list(request()),
                "metadata" => Type::map(Type::String, Type::String),
                "metadata_all" => Type::map(Type::String, Type::list(Type::String)),
                "call" | "index" | "received" => Type::Int,
                "item" => item.clone(),
                "now" => Type::Timestamp,
                "session" | "state" | "method" | "peer" => Type::String,
                "fake" => Type::map(Type::String, Type::Dyn),
                _ => Type::Dyn,
            };
            declarations.variable(name, kind);
        }
        Self { declarations, pool: Arc::clone(pool), input, templates }
    }

    pub(in crate::mock::reply) fn declarations(&self) -> &Declarations {
        &self.declarations
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_in_the_order_of_the_table() {
        for (index, wanted) in [(0, Uses::REQUEST), (8, Uses::ITEM), (COUNT - 1, Uses::QUERY)] {
            assert_eq!(Uses::slot(index), wanted);
        }
        assert!(!Uses::slot(COUNT - 1).any(Uses::DRAWS));
    }
}
