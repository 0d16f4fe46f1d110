use super::expression::Expression;
use super::test::Test;
use super::tree::{Step, Tree};

/// One thing that a rule asks of a call.
#[derive(Debug)]
pub(crate) enum Condition {
    /// A scalar of the message, read from its bytes.
    Slot { slot: u16, test: Test },
    /// A field of metadata.
    Metadata { name: Box<str>, test: Test },
    /// A part of the message that has parts.
    Tree(Box<TreeCondition>),
    /// An expression.
    Cel(Box<Expression>),
    /// One of these groups holds.
    Any(Box<[Box<[Condition]>]>),
    /// None of these groups holds.
    None(Box<[Box<[Condition]>]>),
}

/// A condition on a value with parts.
#[derive(Debug)]
pub(crate) struct TreeCondition {
    /// How messages call it.
    pub(crate) path: Box<str>,
    /// The messages on the way from the top, and the field.
    pub(crate) steps: Box<[Step]>,
    pub(crate) tree: Tree,
    /// As it was written, on one line.
    pub(crate) source: Box<str>,
}

impl Condition {
    /// How many conditions this counts for where rules are put in order: all and exact ones.
    pub(crate) fn weight(&self) -> (u32, u32) {
        match self {
            Self::Slot { test, .. } | Self::Metadata { test, .. } => {
                (test.weight(), u32::from(test.literal().is_some()))
            }
            Self::Tree(condition) => (condition.tree.weight(), u32::from(condition.tree.is_exact())),
            Self::Any(groups) => groups.iter().map(|group| weight(group)).min().unwrap_or((0, 0)),
            Self::Cel(_) | Self::None(_) => (1, 0),
        }
    }

    /// Whether it asks how often the rule has answered.
    pub(crate) fn uses_calls(&self) -> bool {
        match self {
            Self::Cel(expression) => expression.uses_calls(),
            Self::Any(groups) | Self::None(groups) => groups.iter().flatten().any(Self::uses_calls),
            _ => false,
        }
    }

    /// What it costs to look, from cheap to dear: the order in which a rule's conditions are asked.
    pub(crate) fn cost(&self) -> u8 {
        match self {
            Self::Slot { test, .. } if test.literal().is_some() => 0,
            Self::Slot { .. } => 1,
            Self::Metadata { .. } => 2,
            Self::Any(_) | Self::None(_) => 3,
            Self::Tree(_) => 4,
            Self::Cel(_) => 5,
        }
    }
}

/// The sum over conditions that all must hold.
pub(crate) fn weight(conditions: &[Condition]) -> (u32, u32) {
    conditions.iter().map(Condition::weight).fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
}
