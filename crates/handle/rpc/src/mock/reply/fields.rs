//! Headers and trailers of a reply.

use leat_config::Place;
use leat_config::table::{Reader, show};
use leat_config::yaml::{Node, Pair, Value as Yaml};
use leat_rpc_wire::Metadata;
use leat_rpc_wire::field::may_send;

use super::base64_text;
use super::convert::named_field;
use super::template::{At, Budget, Failure, Names, Scope, Template, Uses, text};
use crate::cel::{Map, Value};

/// Fields that a template may make at most.
const FIELDS_MAX: usize = 1000;

/// Names and values, some of which are templates.
#[derive(Debug, Default)]
pub(super) struct Fields {
    /// All of them, where none is a template.
    fixed: Metadata,
    entries: Vec<Entry>,
}

#[derive(Debug)]
enum Entry {
    Fixed(Box<str>, Vec<u8>),
    Template(Box<str>, Template),
    /// Makes names and values.
    All(Template),
}

impl Fields {
    /// Reads a mapping from names to values or lists of them, or one template. `None`: problems were reported.
    pub(super) fn compile(node: Option<&Node>, names: &Names, reader: &Reader) -> Option<Self> {
        let Some(node) = node else { return Some(Self::default()) };
        let mut entries = Vec::new();
        let complete = match &node.value {
            Yaml::Null => true,
            Yaml::Map(pairs) => {
                pairs.iter().fold(true, |complete, pair| complete & field(pair, names, reader, &mut entries).is_some())
            }
            Yaml::Plain(text) | Yaml::Quoted(text) if names.is_template(text) => {
                let at = At::new(reader, node.place, text, matches!(node.value, Yaml::Quoted(_)));
                entries.push(Entry::All(Template::compile(text, names, &at)?));
                true
            }
            _ => {
                let help = "write `{ x-name: value }`, or a template that makes a map or a list of names and values";
                reader.problem_help(
                    node.place,
                    format!("a mapping from names to values is needed, found {}", show(node)),
                    help,
                );
                false
            }
        };
        if !complete {
            return None;
        }
        if !entries.iter().all(|entry| matches!(entry, Entry::Fixed(..))) {
            return Some(Self { fixed: Metadata::new(), entries });
        }
        let mut fixed = Metadata::new();
        for entry in &entries {
            if let Entry::Fixed(name, value) = entry {
                fixed.push(name, value);
            }
        }
        Some(Self { fixed, entries: Vec::new() })
    }

    pub(super) fn uses(&self) -> Uses {
        self.entries.iter().fold(Uses::NONE, |uses, entry| match entry {
            Entry::Fixed(..) => uses,
            Entry::Template(_, template) | Entry::All(template) => uses.and(template.uses()),
        })
    }

    /// All of them, if none is a template.
    pub(super) fn fixed(&self) -> Option<&Metadata> {
        self.entries.is_empty().then_some(&self.fixed)
    }

    /// Makes them.
    pub(super) fn make<'f>(&'f self, scope: &'f Scope<'f>) -> Result<Metadata, Failure> {
        let mut made = Metadata::new();
        for entry in &self.entries {
            match entry {
                Entry::Fixed(name, value) => made.push(name, value),
                Entry::Template(name, template) => push(&mut made, name, &template.value(scope)?, scope.budget())?,
                Entry::All(template) => all(&mut made, &template.value(scope)?, scope.budget())?,
            }
        }
        Ok(made)
    }
}

fn field(pair: &Pair, names: &Names, reader: &Reader, entries: &mut Vec<Entry>) -> Option<()> {
    if let Err(message) = check_name(&pair.key) {
        reader.problem_help(pair.place, message, "a name has lower case letters, digits, `-`, `_` and `.`");
        return None;
    }
    if !may_send(&pair.key) {
        let message = format!("`{}` is never sent: it is HTTP's or the protocol's own", pair.key);
        reader.warn(pair.place, message, "leave it out, or give what it is to say another name");
    }
    match &pair.value.value {
        Yaml::List(items) => {
            { items.iter().fold(true, |complete, item| complete & value(pair, item, names, reader, entries).is_some()) }
                .then_some(())
        }
        _ => value(pair, &pair.value, names, reader, entries),
    }
}

fn value(pair: &Pair, node: &Node, names: &Names, reader: &Reader, entries: &mut Vec<Entry>) -> Option<()> {
    let (Yaml::Plain(text) | Yaml::Quoted(text)) = &node.value else {
        let message = format!("`{}` takes text, found {}", pair.key, show(node));
        reader.problem_help(node.place, message, "write one value, or a list of values");
        return None;
    };
    if names.is_template(text) {
        let at = At::new(reader, node.place, text, matches!(node.value, Yaml::Quoted(_)));
        entries.push(Entry::Template(pair.key.to_ascii_lowercase().into(), Template::compile(text, names, &at)?));
        return Some(());
    }
    match bytes(&pair.key, text) {
        Ok(value) => entries.push(Entry::Fixed(pair.key.to_ascii_lowercase().into(), value)),
        Err(message) => {
            report(reader, node.place, &message);
            return None;
        }
    }
    Some(())
}

fn report(reader: &Reader, place: Place, message: &str) {
    reader.problem_help(place, message, "put other bytes into a name that ends in `-bin`, as Base64");
}

fn check_name(name: &str) -> Result<(), String> {
    let valid = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    if name.is_empty() || !name.bytes().all(valid) {
        return Err(format!("`{}` is no name of metadata", leat_config::table::shorten(name)));
    }
    if name.to_ascii_lowercase().starts_with("grpc-") {
        return Err(format!("`{name}`: names that start with `grpc-` are the protocol's own"));
    }
    Ok(())
}

/// The bytes of a value: of Base64 where the name ends in `-bin`, else printable ASCII.
fn bytes(name: &str, text: &str) -> Result<Vec<u8>, String> {
    if Metadata::is_binary(name) {
        return base64_text::decode(text).ok_or_else(|| format!("the value of `{name}` is not Base64"));
    }
    let printable = text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    if printable { Ok(text.as_bytes().to_vec()) } else { Err(format!("the value of `{name}` is not printable ASCII")) }
}

/// One name with a value, or a list of them.
fn push(made: &mut Metadata, name: &str, value: &Value<'_>, budget: &Budget) -> Result<(), Failure> {
    match value {
        Value::Null => {}
        Value::List(list) => {
            for each in list.iter() {
                push_one(made, name, &each, budget)?;
            }
        }
        value => push_one(made, name, value, budget)?,
    }
    Ok(())
}

fn push_one(made: &mut Metadata, name: &str, value: &Value<'_>, budget: &Budget) -> Result<(), Failure> {
    if made.len() >= FIELDS_MAX {
        return Err(Failure(format!("templates made more than {FIELDS_MAX} headers or trailers")));
    }
    match value {
        Value::Bytes(bytes) if Metadata::is_binary(name) => {
            budget.spend(bytes.len()).map_err(Failure)?;
            made.push(name, bytes);
        }
        value => made.push(name, &bytes(name, &text(value, budget).map_err(Failure)?).map_err(Failure)?),
    }
    Ok(())
}

/// A map from names to values or lists of them, or a list of what has a `name` and a `value` (or `values`).
fn all(made: &mut Metadata, value: &Value<'_>, budget: &Budget) -> Result<(), Failure> {
    match value {
        Value::Null => Ok(()),
        Value::Map(map) => {
            for key in map.keys() {
                let name = text(&key, budget).map_err(Failure)?;
                named(made, &name, &map.get(&key).unwrap_or(Value::Null), budget)?;
            }
            Ok(())
        }
        Value::List(list) => {
            for each in list.iter() {
                let (name, value) = entry(&each, budget).ok_or_else(|| {
                    Failure("each element of a list of headers or trailers has a `name` and a `value`".to_owned())
                })?;
                named(made, &name, &value, budget)?;
            }
            Ok(())
        }
        other => Err(Failure(format!("headers or trailers cannot be made of {}", other.type_name()))),
    }
}

fn named(made: &mut Metadata, name: &str, value: &Value<'_>, budget: &Budget) -> Result<(), Failure> {
    check_name(name).map_err(Failure)?;
    push(made, name, value, budget)
}

fn entry<'a>(value: &Value<'a>, budget: &Budget) -> Option<(String, Value<'a>)> {
    let get = |name: &str| match value {
        Value::Map(map) => map_get(map, name),
        Value::Message(message) => {
            let inner = message.get();
            let field = named_field(inner.pool(), inner.message_index(), name)?;
            Some(message.select(field))
        }
        _ => None,
    };
    Some((text(&get("name")?, budget).ok()?, get("value").or_else(|| get("values"))?))
}

fn map_get<'a>(map: &Map<'a>, name: &str) -> Option<Value<'a>> {
    map.get(&Value::text(name))
}
