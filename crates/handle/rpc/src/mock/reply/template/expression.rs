//! Templates as they are compiled and evaluated.

use leat_config::Place;
use leat_config::table::{Reader, nearest};

use super::fake::FAKES;
use super::filter::Filter;
use super::names::{Names, VARIABLES};
use super::parts::{Part, parts};
use super::{Scope, Uses, text};
use crate::cel::{Activation, Program, Type, Value};

/// Longest text that a template makes, in bytes.
const TEXT_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Why a reply cannot be made: what the client is told, with the template that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure(pub(in crate::mock::reply) String);

/// An expression and its filters.
#[derive(Debug)]
pub(in crate::mock::reply) struct Expression {
    source: Box<str>,
    program: Program,
    filters: Vec<Filter>,
    uses: Uses,
}

/// Text with expressions in it.
#[derive(Debug)]
pub(in crate::mock::reply) enum Template {
    /// Without any.
    Text(Box<str>),
    /// One expression and nothing else: its value keeps its type.
    Whole(Box<Expression>),
    /// Both.
    Mixed(Vec<Piece>),
}

#[derive(Debug)]
pub(in crate::mock::reply) enum Piece {
    Text(Box<str>),
    Expression(Expression),
}

impl Expression {
    /// Compiles what stands between braces, or alone in a key that takes an expression. `None`: a problem was reported.
    fn compile(source: &str, filters: &[(&str, usize)], names: &Names, at: &At<'_>, start: usize) -> Option<Self> {
        let program = match Program::compile(source, names.declarations()) {
            Ok(program) => program,
            Err(problem) => {
                let column = if problem.line == 1 { problem.column.saturating_sub(1) } else { 0 };
                let help = "expressions are CEL; fields have the names of the .proto file";
                at.problem(start + column, format!("`{source}`: {}", problem.message), help);
                return None;
            }
        };
        known_fakes(source, at, start)?;
        let filters: Option<Vec<Filter>> = filters
            .iter()
            .map(|(filter, start)| {
                Filter::parse(filter).map_err(|(message, help)| at.problem(*start, message, help)).ok()
            })
            .collect();
        let filters = filters?;
        let mut uses = Uses::NONE;
        for (index, (name, _)) in VARIABLES.iter().enumerate() {
            if program.uses(name) {
                uses = uses.and(Uses::slot(index));
            }
        }
        if uses.any(Uses::FAKE) || filters.iter().any(Filter::draws) {
            uses = uses.and(Uses::DRAWS);
        }
        Some(Self { source: source.into(), program, filters, uses })
    }

    pub(in crate::mock::reply) fn uses(&self) -> Uses {
        self.uses
    }

    /// As it was written, where it has no filters; else empty.
    pub(in crate::mock::reply) fn source(&self) -> &str {
        if self.filters.is_empty() { &self.source } else { "" }
    }

    /// Whether its value is, or may turn out to be, true or false.
    pub(in crate::mock::reply) fn yields_bool(&self) -> bool {
        !self.filters.is_empty() || self.program.yields_bool()
    }

    /// The type of its value, as far as it is known.
    pub(in crate::mock::reply) fn result(&self) -> Type {
        if self.filters.is_empty() { self.program.result().clone() } else { Type::Dyn }
    }

    /// Its value. What fails becomes `null` where the filter `default` comes next.
    pub(in crate::mock::reply) fn value<'f>(&'f self, scope: &'f Scope<'f>) -> Result<Value<'f>, Failure> {
        let fail = |message: String| Failure(format!("the template `{{{{ {} }}}}` failed: {message}", self.source));
        let mut value = match self.program.evaluate(&Activation::new(&scope.slots)) {
            Ok(value) => value,
            Err(_) if matches!(self.filters.first(), Some(Filter::Default(_))) => Value::Null,
            Err(error) => return Err(fail(error.to_string())),
        };
        for filter in &self.filters {
            value = filter.apply(value, &mut scope.draws.borrow_mut(), scope.budget()).map_err(fail)?;
        }
        Ok(value)
    }
}

/// Finds `fake.x` with an unknown x, which CEL sees only when it is evaluated.
fn known_fakes(source: &str, at: &At<'_>, start: usize) -> Option<()> {
    for (found, _) in source.match_indices("fake.") {
        let before = source.get(..found).and_then(|before| before.chars().next_back());
        if before.is_some_and(|before| before.is_alphanumeric() || matches!(before, '_' | '.' | '\'' | '"')) {
            continue;
        }
        let rest = source.get(found + 5..).unwrap_or_default();
        let end = rest.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').unwrap_or(rest.len());
        let name = rest.get(..end).unwrap_or_default();
        let known = || FAKES.iter().map(|(known, _)| *known);
        if !known().any(|known| known == name) {
            let help = match nearest(name, known()) {
                Some(near) => format!("write `fake.{near}`"),
                None => format!("there are {}", leat_config::table::quoted(known())),
            };
            at.problem(start + found, format!("there is no `fake.{name}`"), help);
            return None;
        }
    }
    Some(())
}

impl Template {
    /// Compiles a text. `None`: a problem was reported.
    pub(in crate::mock::reply) fn compile(source: &str, names: &Names, at: &At<'_>) -> Option<Self> {
        if !names.is_template(source) {
            return Some(Self::Text(source.into()));
        }
        let parts = parts(source).map_err(|broken| at.problem(broken.at, broken.message, broken.help)).ok()?;
        let mut pieces = Vec::with_capacity(parts.len());
        let mut complete = true;
        for part in &parts {
            match part {
                Part::Text(text) => pieces.push(Piece::Text((*text).into())),
                Part::Expression { source, at: start, filters } => {
                    match Expression::compile(source, filters, names, at, *start) {
                        Some(expression) => pieces.push(Piece::Expression(expression)),
                        None => complete = false,
                    }
                }
            }
        }
        if !complete {
            return None;
        }
        Some(match (pieces.pop(), pieces.is_empty()) {
            (None, _) => Self::Text("".into()),
            (Some(Piece::Text(text)), true) => Self::Text(text),
            (Some(Piece::Expression(expression)), true) => Self::Whole(Box::new(expression)),
            (Some(last), false) => {
                pieces.push(last);
                Self::Mixed(pieces)
            }
        })
    }

    /// A text that must be one expression, with or without its braces.
    pub(in crate::mock::reply) fn expression(source: &str, names: &Names, at: &At<'_>) -> Option<Expression> {
        let (braced, at) = match source.contains("{{") {
            true => (source.to_owned(), *at),
            false => (format!("{{{{{source}}}}}"), At { column: at.column.saturating_sub(2), ..*at }),
        };
        // An expression is one also where text has no templates.
        let names = names.with_templates();
        match Self::compile(&braced, &names, &at)? {
            Self::Whole(expression) => Some(*expression),
            _ => {
                at.problem(0, "text around an expression", "write the expression alone, such as `request.items`");
                None
            }
        }
    }

    pub(in crate::mock::reply) fn uses(&self) -> Uses {
        match self {
            Self::Text(_) => Uses::NONE,
            Self::Whole(expression) => expression.uses(),
            Self::Mixed(pieces) => pieces.iter().fold(Uses::NONE, |uses, piece| match piece {
                Piece::Text(_) => uses,
                Piece::Expression(expression) => uses.and(expression.uses()),
            }),
        }
    }

    /// Its value: text, unless it is one expression and nothing else.
    pub(in crate::mock::reply) fn value<'f>(&'f self, scope: &'f Scope<'f>) -> Result<Value<'f>, Failure> {
        match self {
            Self::Text(text) => Ok(Value::text(text)),
            Self::Whole(expression) => expression.value(scope),
            Self::Mixed(pieces) => {
                let mut out = String::new();
                for piece in pieces {
                    match piece {
                        Piece::Text(text) => out.push_str(text),
                        Piece::Expression(expression) => {
                            out.push_str(&text(&expression.value(scope)?, scope.budget()).map_err(Failure)?);
                        }
                    }
                    if out.len() > TEXT_BYTES_MAX {
                        return Err(Failure(format!("a template made more than {TEXT_BYTES_MAX} bytes of text")));
                    }
                }
                Ok(Value::String(out.into()))
            }
        }
    }

    /// Its value as text.
    pub(in crate::mock::reply) fn text<'f>(&'f self, scope: &'f Scope<'f>) -> Result<String, Failure> {
        text(&self.value(scope)?, scope.budget()).map_err(Failure)
    }
}

/// Where the text of a template stands, for problems in it.
#[derive(Clone, Copy, Debug)]
pub(in crate::mock::reply) struct At<'r> {
    reader: &'r Reader,
    line: u32,
    column: u32,
    /// Whether characters of the text can be counted from its start: it stands on one line.
    counted: bool,
}

impl<'r> At<'r> {
    /// Of a scalar that starts at `place`.
    pub(in crate::mock::reply) fn new(reader: &'r Reader, place: Place, text: &str, quoted: bool) -> Self {
        Self { reader, line: place.line, column: place.column + u32::from(quoted), counted: !text.contains('\n') }
    }

    pub(super) fn problem(&self, character: usize, message: impl Into<String>, help: impl Into<String>) {
        let offset = if self.counted { u32::try_from(character).unwrap_or(0) } else { 0 };
        self.reader.problem_help(Place { line: self.line, column: self.column + offset }, message, help);
    }
}
