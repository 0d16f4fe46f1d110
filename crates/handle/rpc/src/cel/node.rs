//! Compiled expressions: names are slots, fields have numbers, patterns are compiled.

use std::sync::Arc;

use buffa_descriptor::{DescriptorPool, MessageIndex};

use super::Pattern;
use super::arithmetic::Arithmetic;
use super::function::Function;

/// One operation. A tree of them is a program; its depth is bounded by the parser's.
#[derive(Debug)]
pub(super) enum Node {
    Constant(Constant),
    /// A variable, by its slot.
    Variable(usize),
    /// A variable of a macro, by its place on the stack.
    Local(usize),
    /// A field of a message, by number where the type is known; else a field or a key by its name.
    Select {
        operand: Box<Node>,
        name: Box<str>,
        field: Option<(MessageIndex, u32)>,
    },
    /// `has(operand.name)`.
    Has {
        operand: Box<Node>,
        name: Box<str>,
    },
    Index(Box<Node>, Box<Node>),
    Not(Box<Node>),
    Negate(Box<Node>),
    And(Box<Node>, Box<Node>),
    Or(Box<Node>, Box<Node>),
    Conditional(Box<(Node, Node, Node)>),
    Equal {
        left: Box<Node>,
        right: Box<Node>,
        negated: bool,
    },
    Order {
        left: Box<Node>,
        right: Box<Node>,
        relation: Relation,
    },
    In(Box<Node>, Box<Node>),
    Arithmetic(Arithmetic, Box<Node>, Box<Node>),
    /// False only where the operand is: what ends the loops of `all` and `exists`.
    NotStrictlyFalse(Box<Node>),
    /// `accumulator + [item]` of `map` and `filter`, in place.
    Append {
        accumulator: usize,
        item: Box<Node>,
    },
    Call(Function, Vec<Node>),
    /// `matches` with a literal pattern.
    Matches(Box<Node>, Pattern),
    List(Vec<Node>),
    Map(Vec<(Node, Node)>),
    /// A message literal.
    Build {
        pool: Arc<DescriptorPool>,
        message: MessageIndex,
        fields: Vec<(u32, Node)>,
    },
    Loop(Box<Loop>),
}

/// What a macro becomes: `range` is walked, `step` makes the next accumulator.
#[derive(Debug)]
pub(super) struct Loop {
    pub(super) range: Node,
    pub(super) initial: Node,
    /// Checked before each element; locals are the accumulator, then the element.
    pub(super) condition: Node,
    pub(super) step: Node,
    pub(super) result: Node,
}

/// A literal.
#[derive(Debug)]
pub(super) enum Constant {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    String(Box<str>),
    Bytes(Box<[u8]>),
    Type(Box<str>),
}

/// An order between two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Relation {
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Relation {
    /// As it is written.
    pub(super) fn symbol(self) -> &'static str {
        match self {
            Relation::Less => "<",
            Relation::LessOrEqual => "<=",
            Relation::Greater => ">",
            Relation::GreaterOrEqual => ">=",
        }
    }

    /// Whether an order that there is satisfies it.
    pub(super) fn holds(self, order: std::cmp::Ordering) -> bool {
        match self {
            Relation::Less => order.is_lt(),
            Relation::LessOrEqual => order.is_le(),
            Relation::Greater => order.is_gt(),
            Relation::GreaterOrEqual => order.is_ge(),
        }
    }
}
