//! Operators of the parser's tree: which there are, and which operands they take.

use cel::common::ast::{CallExpr, IdedExpr, operators};

use super::arithmetic::Arithmetic;
use super::compile::{Compiler, Typed};
use super::node::{Node, Relation};
use super::{Problem, Type};

impl Compiler<'_> {
    /// The operator that a call of the tree is, if it is one.
    pub(super) fn operator(&mut self, id: u64, call: &CallExpr) -> Result<Option<Typed>, Problem> {
        let typed = match (call.func_name.as_str(), call.args.as_slice()) {
            (operators::CONDITIONAL, [condition, yes, no]) => {
                let condition = self.boolean(condition)?;
                let (yes, yes_kind) = self.node(yes)?;
                let (no, no_kind) = self.node(no)?;
                if !yes_kind.fits(&no_kind) && !no_kind.fits(&yes_kind) {
                    return Err(self.problem(id, format!("the two sides of ?: differ: {yes_kind} and {no_kind}")));
                }
                (Node::Conditional(Box::new((condition, yes, no))), yes_kind.join(&no_kind))
            }
            (operators::LOGICAL_AND, [left, right]) => {
                (Node::And(Box::new(self.boolean(left)?), Box::new(self.boolean(right)?)), Type::Bool)
            }
            (operators::LOGICAL_OR, [left, right]) => {
                (Node::Or(Box::new(self.boolean(left)?), Box::new(self.boolean(right)?)), Type::Bool)
            }
            (operators::LOGICAL_NOT, [operand]) => (Node::Not(Box::new(self.boolean(operand)?)), Type::Bool),
            (operators::NOT_STRICTLY_FALSE, [operand]) => {
                (Node::NotStrictlyFalse(Box::new(self.boolean(operand)?)), Type::Bool)
            }
            (operators::NEGATE, [operand]) => self.negation(operand)?,
            (operators::EQUALS, [left, right]) => self.equality(id, left, right, false)?,
            (operators::NOT_EQUALS, [left, right]) => self.equality(id, left, right, true)?,
            (operators::LESS, [left, right]) => self.relation(id, left, right, Relation::Less)?,
            (operators::LESS_EQUALS, [left, right]) => self.relation(id, left, right, Relation::LessOrEqual)?,
            (operators::GREATER, [left, right]) => self.relation(id, left, right, Relation::Greater)?,
            (operators::GREATER_EQUALS, [left, right]) => self.relation(id, left, right, Relation::GreaterOrEqual)?,
            (operators::ADD, [left, right]) => self.arithmetic(id, left, right, Arithmetic::Add)?,
            (operators::SUBSTRACT, [left, right]) => self.arithmetic(id, left, right, Arithmetic::Subtract)?,
            (operators::MULTIPLY, [left, right]) => self.arithmetic(id, left, right, Arithmetic::Multiply)?,
            (operators::DIVIDE, [left, right]) => self.arithmetic(id, left, right, Arithmetic::Divide)?,
            (operators::MODULO, [left, right]) => self.arithmetic(id, left, right, Arithmetic::Modulo)?,
            (operators::IN, [left, right]) => self.membership(id, left, right)?,
            (operators::INDEX, [operand, index]) => self.index(id, operand, index)?,
            _ => return Ok(None),
        };
        Ok(Some(typed))
    }

    fn negation(&mut self, operand: &IdedExpr) -> Result<Typed, Problem> {
        let (node, kind) = self.node(operand)?;
        match unwrapped(&kind) {
            Type::Int | Type::Double | Type::Duration | Type::Dyn => Ok((Node::Negate(Box::new(node)), kind)),
            other => Err(self.problem(operand.id, format!("there is no minus of {other}"))),
        }
    }

    fn equality(&mut self, id: u64, left: &IdedExpr, right: &IdedExpr, negated: bool) -> Result<Typed, Problem> {
        let ((left, left_kind), (right, right_kind)) = (self.node(left)?, self.node(right)?);
        if !left_kind.comparable(&right_kind) {
            let symbol = if negated { "!=" } else { "==" };
            return Err(
                self.problem(id, format!("{left_kind} {symbol} {right_kind} is never of use: the types differ"))
            );
        }
        Ok((Node::Equal { left: Box::new(left), right: Box::new(right), negated }, Type::Bool))
    }

    fn relation(&mut self, id: u64, left: &IdedExpr, right: &IdedExpr, relation: Relation) -> Result<Typed, Problem> {
        let ((left, left_kind), (right, right_kind)) = (self.node(left)?, self.node(right)?);
        let ordered = |kind: &Type| {
            matches!(kind, Type::String | Type::Bytes | Type::Bool | Type::Timestamp | Type::Duration | Type::Dyn)
        };
        let (a, b) = (unwrapped(&left_kind), unwrapped(&right_kind));
        let comparable = a.numeric() && b.numeric() || ordered(a) && ordered(b) && a.fits(b);
        if !comparable {
            return Err(self.problem(id, format!("there is no order {left_kind} {} {right_kind}", relation.symbol())));
        }
        Ok((Node::Order { left: Box::new(left), right: Box::new(right), relation }, Type::Bool))
    }

    fn arithmetic(
        &mut self,
        id: u64,
        left: &IdedExpr,
        right: &IdedExpr,
        operator: Arithmetic,
    ) -> Result<Typed, Problem> {
        let ((left, left_kind), (right, right_kind)) = (self.node(left)?, self.node(right)?);
        let Some(result) = sum(operator, unwrapped(&left_kind), unwrapped(&right_kind)) else {
            return Err(self.problem(id, format!("there is no {left_kind} {} {right_kind}", operator.symbol())));
        };
        Ok((Node::Arithmetic(operator, Box::new(left), Box::new(right)), result))
    }

    fn membership(&mut self, id: u64, left: &IdedExpr, right: &IdedExpr) -> Result<Typed, Problem> {
        let ((left, left_kind), (right, right_kind)) = (self.node(left)?, self.node(right)?);
        let of = match &right_kind {
            Type::List(of) => Some((**of).clone()),
            Type::Map(of) => Some(of.0.clone()),
            Type::Dyn => Some(Type::Dyn),
            _ => None,
        };
        match of {
            Some(of) if left_kind.comparable(&of) => Ok((Node::In(Box::new(left), Box::new(right)), Type::Bool)),
            _ => Err(self.problem(id, format!("{left_kind} cannot be in {right_kind}"))),
        }
    }

    fn index(&mut self, id: u64, operand: &IdedExpr, index: &IdedExpr) -> Result<Typed, Problem> {
        let ((operand, kind), (index, index_kind)) = (self.node(operand)?, self.node(index)?);
        let result = match &kind {
            Type::List(of) if index_kind.numeric() => (**of).clone(),
            Type::Map(of) if index_kind.fits(&of.0) || index_kind.numeric() && of.0.numeric() => of.1.clone(),
            Type::Dyn => Type::Dyn,
            _ => return Err(self.problem(id, format!("{kind} cannot be indexed by {index_kind}"))),
        };
        Ok((Node::Index(Box::new(operand), Box::new(index)), result))
    }
}

/// A wrapper's scalar; other types as they are.
fn unwrapped(kind: &Type) -> &Type {
    match kind {
        Type::Wrapper(of) => of,
        other => other,
    }
}

/// What an arithmetic operator yields, if there is one for these operands.
fn sum(operator: Arithmetic, left: &Type, right: &Type) -> Option<Type> {
    match (operator, left, right) {
        (_, Type::Dyn, _) | (_, _, Type::Dyn) => Some(Type::Dyn),
        (_, Type::Int, Type::Int) => Some(Type::Int),
        (_, Type::Uint, Type::Uint) => Some(Type::Uint),
        (Arithmetic::Modulo, Type::Double, _) => None,
        (_, Type::Double, Type::Double) => Some(Type::Double),
        (Arithmetic::Add, Type::String, Type::String) => Some(Type::String),
        (Arithmetic::Add, Type::Bytes, Type::Bytes) => Some(Type::Bytes),
        (Arithmetic::Add, Type::List(left), Type::List(right)) => Some(Type::list((**left).clone().join(right))),
        (Arithmetic::Add, Type::Timestamp, Type::Duration) | (Arithmetic::Add, Type::Duration, Type::Timestamp) => {
            Some(Type::Timestamp)
        }
        (Arithmetic::Subtract, Type::Timestamp, Type::Duration) => Some(Type::Timestamp),
        (Arithmetic::Subtract, Type::Timestamp, Type::Timestamp) => Some(Type::Duration),
        (Arithmetic::Add | Arithmetic::Subtract, Type::Duration, Type::Duration) => Some(Type::Duration),
        _ => None,
    }
}
