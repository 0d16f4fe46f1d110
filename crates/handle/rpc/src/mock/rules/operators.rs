//! Values and predicates of rules become tests and trees.

use leat_config::Place;
use leat_config::table::{Reader, nearest, quoted, shorten, show};
use leat_config::yaml::{Node, Pair, Value};
use leat_schema::{Kind, MessageType};

use super::glob::Glob;
use super::literal;
use super::scalar::{Domain, Literal};
use super::table::PREDICATE;
use super::test::{self, Relation, Test};

/// What stands in place of a value: operators, and keys that are none.
pub(super) struct Operators<'n> {
    pub(super) operators: Vec<Operator<'n>>,
    pub(super) others: Vec<&'n Pair>,
}

/// An operator and its argument.
#[derive(Clone, Copy)]
pub(super) struct Operator<'n> {
    pub(super) name: &'static str,
    pub(super) place: Place,
    pub(super) argument: &'n Node,
}

/// Parts a mapping's keys: those with a dollar are operators; of the others, those that `is_free` does not claim for itself.
/// What is no operator and not claimed stays in `others`.
pub(super) fn split<'n>(pairs: &'n [Pair], is_free: impl Fn(&str) -> bool, reader: &Reader) -> Operators<'n> {
    let mut found = Operators { operators: Vec::new(), others: Vec::new() };
    for pair in pairs {
        let (name, dollar) = match pair.key.strip_prefix('$') {
            Some(name) => (name, true),
            None => (pair.key.as_str(), false),
        };
        if !dollar && is_free(name) {
            found.others.push(pair);
            continue;
        }
        match PREDICATE.key(name) {
            Some((_, key)) => {
                found.operators.push(Operator { name: key.name, place: pair.place, argument: &pair.value });
            }
            None if dollar => unknown(pair, reader),
            None => found.others.push(pair),
        }
    }
    found
}

/// Whether this word is one of the operators.
pub(super) fn is_operator(name: &str) -> bool {
    PREDICATE.key(name).is_some()
}

/// Reports a key that should have been an operator.
pub(super) fn unknown(pair: &Pair, reader: &Reader) {
    let name = pair.key.strip_prefix('$').unwrap_or(&pair.key);
    let known = PREDICATE.keys.iter();
    let alias = known.clone().find(|key| key.aka.contains(&name)).map(|key| key.name);
    let help = match alias.or_else(|| nearest(name, known.clone().map(|key| key.name))) {
        Some(name) => format!("write `{name}`"),
        None => format!("the operators are {}", quoted(known.map(|key| key.name))),
    };
    reader.problem_help(pair.place, format!("unknown operator `{}`", shorten(&pair.key)), help);
}

/// A field that reads as a scalar, for those who compile what is asked of it.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    pub(super) domain: Domain,
    /// How messages call it.
    pub(super) name: &'a str,
    /// Whether nothing and zero are one.
    pub(super) implicit: bool,
    pub(super) types: &'a MessageType,
    pub(super) reader: &'a Reader,
}

impl Asked<'_> {
    /// What a value or a predicate asks of it. `None`: problems were reported.
    pub(super) fn test(&self, node: &Node) -> Option<Test> {
        match &node.value {
            Value::Null => Some(self.exists(false)),
            Value::Plain(_) | Value::Quoted(_) => self.literal(node).map(Test::Equals),
            Value::List(_) => {
                self.wrong(
                    node.place,
                    format!("`{}` is one value, found a list", self.name),
                    "write `in: […]` for one of several",
                );
                None
            }
            Value::Map(pairs) => {
                let found = split(pairs, |_| false, self.reader);
                found.others.iter().for_each(|pair| unknown(pair, self.reader));
                if pairs.is_empty() {
                    self.wrong(
                        node.place,
                        format!("the predicate of `{}` says nothing", self.name),
                        "write a value, or an operator such as `exists: true`",
                    );
                }
                let tests: Vec<Option<Test>> =
                    found.operators.iter().map(|operator| self.operator(*operator)).collect();
                let mut tests = tests.into_iter().collect::<Option<Vec<Test>>>()?;
                match tests.len() {
                    0 => None,
                    1 => tests.pop(),
                    _ => Some(Test::All(tests.into())),
                }
            }
        }
    }

    fn operator(&self, operator: Operator<'_>) -> Option<Test> {
        let argument = operator.argument;
        match operator.name {
            "equals" => match argument.value {
                Value::Null => Some(self.exists(false)),
                _ => self.literal(argument).map(Test::Equals),
            },
            "not" => self.test(argument).map(|test| Test::Not(Box::new(test))),
            "exists" => self.flag(operator).map(|wanted| self.exists(wanted)),
            "in" => {
                let choices: Vec<Option<Literal>> =
                    self.list(operator)?.iter().map(|node| self.literal(node)).collect();
                choices.into_iter().collect::<Option<Vec<Literal>>>().map(|choices| Test::In(choices.into()))
            }
            "any" => self.tests(operator).map(|tests| Test::Any(tests.into())),
            "all" => self.tests(operator).map(|tests| Test::All(tests.into())),
            "none" => self.tests(operator).map(|tests| Test::Not(Box::new(Test::Any(tests.into())))),
            "gt" => self.compare(Relation::Gt, operator),
            "gte" => self.compare(Relation::Gte, operator),
            "lt" => self.compare(Relation::Lt, operator),
            "lte" => self.compare(Relation::Lte, operator),
            "regex" => {
                let text = self.text(operator)?;
                let built = test::regex(text);
                built
                    .map_err(|error| {
                        self.wrong(
                            argument.place,
                            format!("this is no regular expression: {error}"),
                            "quote it in YAML (`'…'`), and write `\\` before a character that is meant as itself",
                        )
                    })
                    .ok()
                    .map(|regex| Test::Regex(Box::new(regex)))
            }
            "glob" => {
                let text = self.text(operator)?;
                let built = Glob::new(text);
                built
                    .map_err(|error| {
                        self.wrong(
                            argument.place,
                            format!("this is no pattern: {error}"),
                            "`*`, `?` and `[…]` are special; `\\` takes the next character as itself",
                        )
                    })
                    .ok()
                    .map(|glob| Test::Glob(Box::new(glob)))
            }
            "contains" if matches!(self.domain, Domain::Kind(Kind::String | Kind::Bytes)) => {
                match self.literal(argument)? {
                    Literal::Text(part) | Literal::Bytes(part) => Some(Test::Contains(part)),
                    _ => None,
                }
            }
            "size" if matches!(self.domain, Domain::Kind(Kind::String | Kind::Bytes)) => {
                size(argument, self.name, self.types, self.reader).map(|test| Test::Size(Box::new(test)))
            }
            other => {
                self.wrong(
                    operator.place,
                    format!(
                        "`{other}` does not fit `{}`, which is {}",
                        self.name,
                        literal::what(self.domain, self.types)
                    ),
                    "`contains` and `size` are for texts, bytes and lists, `unordered` for lists",
                );
                None
            }
        }
    }

    fn compare(&self, relation: Relation, operator: Operator<'_>) -> Option<Test> {
        if self.domain == Domain::Kind(Kind::Bool) {
            self.wrong(
                operator.place,
                format!("`{}` does not fit `{}`, which is `true` or `false`", operator.name, self.name),
                "write the value that it has",
            );
            return None;
        }
        self.literal(operator.argument).map(|literal| Test::Compare(relation, literal))
    }

    fn tests(&self, operator: Operator<'_>) -> Option<Vec<Test>> {
        self.list(operator)?.iter().map(|node| self.test(node)).collect::<Vec<_>>().into_iter().collect()
    }

    fn list<'n>(&self, operator: Operator<'n>) -> Option<&'n [Node]> {
        list(operator, self.reader)
    }

    fn flag(&self, operator: Operator<'_>) -> Option<bool> {
        flag(operator, self.reader)
    }

    /// The argument as text, where the field is text too.
    fn text<'n>(&self, operator: Operator<'n>) -> Option<&'n str> {
        if self.domain != Domain::Kind(Kind::String) {
            self.wrong(
                operator.place,
                format!(
                    "`{}` fits texts, and `{}` is {}",
                    operator.name,
                    self.name,
                    literal::what(self.domain, self.types)
                ),
                "compare with `equals`, `in`, `gt` and their like",
            );
            return None;
        }
        let text = leat_config::table::text_of(operator.argument).map(|text| text.value);
        if text.is_none() {
            self.wrong(
                operator.argument.place,
                format!("`{}` takes text, found {}", operator.name, show(operator.argument)),
                "write the text in quotes",
            );
        }
        text
    }

    fn exists(&self, wanted: bool) -> Test {
        if self.implicit { Test::NotZero(wanted) } else { Test::Exists(wanted) }
    }

    fn literal(&self, node: &Node) -> Option<Literal> {
        literal::read(node, self.domain, self.name, self.types, self.reader)
    }

    fn wrong(&self, place: Place, message: String, help: &str) {
        self.reader.problem_help(place, message, help);
    }
}

/// The argument of `size`: a number, or a predicate on it.
pub(super) fn size(node: &Node, name: &str, types: &MessageType, reader: &Reader) -> Option<Test> {
    let name = format!("the size of {name}");
    Asked { domain: Domain::Kind(Kind::Uint64), name: &name, implicit: false, types, reader }.test(node)
}

/// An argument that is a list.
pub(super) fn list<'n>(operator: Operator<'n>, reader: &Reader) -> Option<&'n [Node]> {
    match &operator.argument.value {
        Value::List(items) if !items.is_empty() => Some(items),
        _ => {
            let message =
                format!("`{}` takes a list with something in it, found {}", operator.name, show(operator.argument));
            reader.problem_help(operator.argument.place, message, format!("write `{}: […]`", operator.name));
            None
        }
    }
}

/// An argument that is `true` or `false`.
pub(super) fn flag(operator: Operator<'_>, reader: &Reader) -> Option<bool> {
    match &operator.argument.value {
        Value::Plain(text) if text == "true" => Some(true),
        Value::Plain(text) if text == "false" => Some(false),
        _ => {
            let message = format!("`{}` must be `true` or `false`, found {}", operator.name, show(operator.argument));
            reader.problem_help(operator.argument.place, message, format!("write `{}: true`", operator.name));
            None
        }
    }
}
