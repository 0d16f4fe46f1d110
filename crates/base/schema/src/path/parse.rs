//! From the text of a path to its steps.

use std::fmt;
use std::sync::Arc;

use leat_config::table::nearest;

use super::scan::Single;
use super::{Key, Path, Pick, STEPS_MAX, Step};
use crate::{Field, Kind, MessageType, Shape};

/// What is wrong with a path. Displays as one sentence, without the help.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where in the text, in characters from 0.
    pub at: usize,
    /// What is wrong.
    pub message: String,
    /// What to write instead.
    pub help: Option<String>,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Problem {}

/// A part of the text: a name behind a dot, or what stands in brackets.
struct Token {
    at: usize,
    text: String,
    brackets: bool,
}

pub(super) fn compile(of: &MessageType, text: &str) -> Result<Path, Problem> {
    let mut steps: Vec<Step> = Vec::new();
    let mut of = of.clone();
    let mut tokens = tokens(text)?.into_iter().peekable();
    while let Some(token) = tokens.next() {
        if steps.len() == STEPS_MAX {
            return Err(problem(token.at, format!("the path has more than {STEPS_MAX} fields"), None));
        }
        let field = find(&of, &token)?;
        let mut step = step(&of, field);
        match (field.shape(), tokens.peek()) {
            (Shape::One, _) | (_, None) => {}
            (shape, Some(token)) => {
                step.pick = pick(field, shape, token)?;
                tokens.next();
            }
        }
        steps.push(step);
        if let Some(next) = tokens.peek() {
            let Some(message) = of.message_of(field) else {
                let kind = field.kind().name();
                return Err(problem(next.at, format!("`{}` has no fields: it is of type {kind}", field.name()), None));
            };
            of = message;
        }
    }
    if steps.is_empty() {
        return Err(problem(0, "the path is empty".into(), None));
    }
    Ok(Path { types: Arc::clone(&of.types), steps: steps.into() })
}

fn find<'m>(of: &'m MessageType, token: &Token) -> Result<&'m Field, Problem> {
    let bracketed = token.brackets.then(|| format!("[{}]", token.text));
    let name = bracketed.as_deref().unwrap_or(&token.text);
    of.field_named(name).ok_or_else(|| {
        let message = format!("{} has no field `{name}`", of.full_name());
        let help = match nearest(name, of.fields().iter().map(Field::name)) {
            Some(known) => Some(format!("write `{known}`")),
            None => fields(of),
        };
        problem(token.at, message, help)
    })
}

/// The names of some fields, to choose from.
fn fields(of: &MessageType) -> Option<String> {
    const SHOWN: usize = 12;
    let names: Vec<&str> = of.fields().iter().map(Field::name).take(SHOWN).collect();
    let more = if of.fields().len() > SHOWN { ", …" } else { "" };
    (!names.is_empty()).then(|| format!("its fields are {}{more}", names.join(", ")))
}

fn step(of: &MessageType, field: &Field) -> Step {
    let single = |field: &Field| Single { number: field.number(), kind: field.kind(), closed: field.is_closed() };
    let table = of.types.message(of.id);
    let at = table.fields.iter().position(|other| std::ptr::eq(other, field)).unwrap_or_default();
    let oneof = field.oneof().and_then(|oneof| of.oneofs().get(oneof));
    let rivals = oneof.into_iter().flat_map(|oneof| oneof.members()).filter(|&member| member != at);
    Step {
        of: of.id,
        at: at as u16,
        single: single(field),
        presence: field.presence(),
        shape: field.shape(),
        rivals: rivals.filter_map(|member| of.fields().get(member)).map(single).collect(),
        pick: Pick::Whole,
    }
}

fn pick(field: &Field, shape: Shape, token: &Token) -> Result<Pick, Problem> {
    let name = field.name();
    match shape {
        Shape::Map { key } => Key::read(&token.text, key).map(Pick::Key).ok_or_else(|| {
            problem(
                token.at,
                format!("`{}` is no key of `{name}`, whose keys are of type {}", token.text, key.name()),
                None,
            )
        }),
        _ => token.text.parse().map(Pick::Index).map_err(|_| {
            let help = matches!(field.kind(), Kind::Message(_)).then(|| format!("write `{name}[0].{}`", token.text));
            problem(token.at, format!("`{name}` is a list: say which element"), help)
        }),
    }
}

fn tokens(text: &str) -> Result<Vec<Token>, Problem> {
    let chars: Vec<char> = text.chars().collect();
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(&first) = chars.get(at) {
        if first == '[' {
            let (token, end) = bracketed(&chars, at)?;
            tokens.push(token);
            at = end;
            continue;
        }
        if first == '.' && (at == 0 || at + 1 == chars.len()) {
            return Err(problem(at, "a field's name is missing beside the dot".into(), None));
        }
        let start = at + usize::from(first == '.');
        if chars.get(start) == Some(&'[') {
            at = start;
            continue;
        }
        let end = chars.iter().skip(start).position(|c| matches!(c, '.' | '[')).map_or(chars.len(), |len| start + len);
        if end == start {
            return Err(problem(start, "a field's name is missing beside the dot".into(), None));
        }
        tokens.push(Token { at: start, text: chars.iter().take(end).skip(start).collect(), brackets: false });
        at = end;
    }
    Ok(tokens)
}

/// What stands in brackets, perhaps in quotes; and where it ends.
fn bracketed(chars: &[char], start: usize) -> Result<(Token, usize), Problem> {
    let unclosed = || problem(start, "the bracket is not closed".into(), Some("write `[0]` or `[\"key\"]`".into()));
    let quote = chars.get(start + 1).copied().filter(|c| matches!(c, '"' | '\''));
    let mut text = String::new();
    let mut at = start + 1 + usize::from(quote.is_some());
    loop {
        let &c = chars.get(at).ok_or_else(unclosed)?;
        at += 1;
        match quote {
            Some(quote) if c == quote => {
                let closed = chars.get(at) == Some(&']');
                return if closed { Ok((Token { at: start, text, brackets: true }, at + 1)) } else { Err(unclosed()) };
            }
            Some(_) if c == '\\' => {
                text.push(*chars.get(at).ok_or_else(unclosed)?);
                at += 1;
            }
            None if c == ']' => return Ok((Token { at: start, text, brackets: true }, at)),
            _ => text.push(c),
        }
    }
}

fn problem(at: usize, message: String, help: Option<String>) -> Problem {
    Problem { at, message, help }
}
