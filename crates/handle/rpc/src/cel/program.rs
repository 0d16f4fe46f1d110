//! Programs: expressions that were parsed and checked, ready to be evaluated by any thread.

use std::fmt;

use super::compile::Compiler;
use super::evaluate::{Activation, Error, Evaluation};
use super::node::Node;
use super::{Declarations, Type, Value};

/// The longest expression, in bytes. Longer ones are programs that belong elsewhere, and the parser's time grows with them.
pub const SOURCE_BYTES_MAX: usize = 64 * 1024;

/// The most operators, selections and brackets: the parser recurses along a chain of them.
const OPERATORS_MAX: usize = 2_000;

/// A compiled expression. It borrows nothing, and may be shared by threads.
#[derive(Debug)]
pub struct Program {
    root: Node,
    result: Type,
    used: Vec<String>,
}

/// Why an expression is not one, and where: line and column count from 1, in characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The line in the expression.
    pub line: usize,
    /// The column in the line.
    pub column: usize,
    /// What is wrong, and what to write where that is known.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

impl Program {
    /// Parses `source` and checks it against the names that it may use.
    ///
    /// # Errors
    /// The first mistake: of syntax, an unknown name, field or function, operands that no operator takes.
    pub fn compile(source: &str, names: &Declarations) -> Result<Program, Problem> {
        if source.len() > SOURCE_BYTES_MAX {
            let message = format!("the expression has {} bytes; at most {SOURCE_BYTES_MAX} are compiled", source.len());
            return Err(Problem { line: 1, column: 1, message });
        }
        // Those within strings count too; the bound is far enough.
        let operators =
            source.bytes().filter(|byte| b"+-*/%.[({<>=!?".contains(byte)).count() + source.matches(" in ").count();
        if operators > OPERATORS_MAX {
            let message =
                format!("the expression has {operators} operators and brackets; at most {OPERATORS_MAX} are compiled");
            return Err(Problem { line: 1, column: 1, message });
        }
        let (root, result, used) = Compiler::run(source, names)?;
        Ok(Program { root, result, used })
    }

    /// The type of the result, `Dyn` where only an evaluation can tell.
    pub fn result(&self) -> &Type {
        &self.result
    }

    /// Whether the result is, or may turn out to be, a `bool`.
    pub fn yields_bool(&self) -> bool {
        self.result.fits(&Type::Bool)
    }

    /// Whether the expression names the variable: one that it does not name need not be prepared.
    pub fn uses(&self, variable: &str) -> bool {
        self.used.iter().any(|each| each == variable)
    }

    /// Evaluates.
    ///
    /// # Errors
    /// What CEL calls an error (no such key, division by zero, overflow …), and [`Error::Steps`].
    pub fn evaluate<'a>(&'a self, activation: &Activation<'a>) -> Result<Value<'a>, Error> {
        Evaluation::new(activation).value(&self.root)
    }

    /// Evaluates what must be a `bool`.
    ///
    /// # Errors
    /// As [`evaluate`](Self::evaluate), and a result of another type.
    pub fn truth<'a>(&'a self, activation: &Activation<'a>) -> Result<bool, Error> {
        match self.evaluate(activation)? {
            Value::Bool(truth) => Ok(truth),
            other => Err(Error::overload("bool", &other)),
        }
    }
}
