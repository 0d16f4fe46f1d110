//! A rule of a file, read by its table.

use std::sync::Arc;

use leat_config::table::{Open, nearest, quoted, shorten, show};
use leat_config::yaml::{Pair, Value};
use leat_rpc_wire::Metadata;
use leat_schema::buffa_descriptor::reflect::DynamicMessage;
use leat_schema::{Kind, Method, Schema};

use super::condition::Condition;
use super::fields::Fields;
use super::operators::Asked;
use super::rule::{Head, Info, Scenario};
use super::scalar::Domain;
use super::slots::Slots;
use super::source;

/// Longest name of a rule, in bytes.
const NAME_BYTES_MAX: usize = 200;

/// What a rule says, without its conditions and its reply.
pub(super) struct Read<'s> {
    pub(super) info: Info,
    pub(super) methods: Vec<&'s Method>,
}

/// Reads a rule: the `at`th of its file, and the one after `number` others.
pub(super) fn rule<'s>(open: &Open<'_>, file: &Arc<str>, at: usize, number: usize, schema: &'s Schema) -> Read<'s> {
    let methods = methods(open, schema);
    let name = open.text("name").map(|text| {
        if text.value.is_empty() || text.value.len() > NAME_BYTES_MAX {
            open.reader.problem_help(text.place, "a name that is empty or longer than 200 bytes", "write a short name");
        }
        text.value
    });
    let scenario = open.section_if("scenario").map(|open| {
        let text = |key| open.text(key).map(|text| Arc::from(text.value));
        Scenario { name: text("name").unwrap_or_else(|| "".into()), required: text("in"), to: text("to") }
    });
    let info = Info {
        number: number as u32,
        name: name.map_or_else(|| format!("{file}#{at}").into(), Into::into),
        file: Arc::clone(file),
        place: open.place(),
        method: open.text("method").map_or("", |text| text.value).into(),
        priority: open.number("priority").unwrap_or(0) as u32,
        head: Head { times: open.number("times"), scenario },
        sample: sample(open, &methods),
    };
    Read { info, methods }
}

/// Marks what only [`conditions`] and a reply ask for as read: a rule without a method has neither.
pub(super) fn forget(open: &Open<'_>) {
    if let Some(open) = open.section_if("match") {
        forget_match(&open);
    }
    let _ = open.json("reply");
}

fn forget_match(open: &Open<'_>) {
    let _ = (open.pairs("metadata"), open.pairs("message"), open.text("cel"));
    for key in ["all", "any", "none"] {
        open.sections(key).iter().for_each(forget_match);
    }
}

/// The methods that a rule names.
fn methods<'s>(open: &Open<'_>, schema: &'s Schema) -> Vec<&'s Method> {
    let Some(text) = open.text("method") else { return Vec::new() };
    let wanted = text.value.strip_prefix('/').unwrap_or(text.value);
    if wanted == "*" {
        return schema.methods().iter().collect();
    }
    let wrong = |message: String, help: String| {
        open.reader.problem_help(text.place, message, help);
        Vec::new()
    };
    let services = || schema.services().iter().map(|service| service.full_name());
    let Some((service, method)) = wanted.rsplit_once('/').or_else(|| wanted.rsplit_once('.')) else {
        return wrong(format!("`{}` is no full name of a method", shorten(wanted)), offer(wanted, schema));
    };
    let Some(found) = schema.service(service) else {
        let short =
            services().find(|name| name.rsplit('.').next() == Some(service.rsplit('.').next().unwrap_or(service)));
        let help = match short.or_else(|| nearest(service, services())) {
            Some(name) => format!("write `{name}/{method}`"),
            None if schema.services().is_empty() => "the schema has no services at all".to_owned(),
            None => format!("its services are {}", quoted(services().take(8))),
        };
        return wrong(format!("the schema has no service `{}`", shorten(service)), help);
    };
    let all = schema.methods_of(found);
    if method == "*" {
        return all.iter().collect();
    }
    match all.iter().find(|found| found.name() == method) {
        Some(method) => vec![method],
        None => {
            let names = || all.iter().map(Method::name);
            let same = names().find(|name| name.eq_ignore_ascii_case(method));
            let help = match same.or_else(|| nearest(method, names())) {
                Some(name) => format!("write `{service}/{name}`"),
                None => format!("its methods are {}", quoted(names().take(12))),
            };
            wrong(format!("`{service}` has no method `{}`", shorten(method)), help)
        }
    }
}

/// A full name for a word that may be a method's.
fn offer(word: &str, schema: &Schema) -> String {
    let same = schema.methods().iter().find(|method| method.name().eq_ignore_ascii_case(word));
    match same.or_else(|| schema.methods().first()) {
        Some(method) => format!("write it with its service, such as `{}`", method.full_name()),
        None => "write `package.Service/Method`".to_owned(),
    }
}

/// The conditions of a rule for one method. `None`: problems were reported.
pub(super) fn conditions(
    open: &Open<'_>,
    method: &Method,
    schema: &Schema,
    slots: &mut Slots,
) -> Option<Box<[Condition]>> {
    let Some(open) = open.section_if("match") else { return Some(Box::default()) };
    let mut conditions = group(&open, method, schema, slots)?;
    conditions.sort_by_key(Condition::cost);
    Some(conditions.into())
}

fn group(open: &Open<'_>, method: &Method, schema: &Schema, slots: &mut Slots) -> Option<Vec<Condition>> {
    let metadata = metadata(open, method);
    let message = Fields { schema, slots, reader: open.reader }.conditions(method.input(), open.pairs("message"));
    let expression = super::expression::read(open, method);
    let mut groups = |key| -> Option<Vec<Vec<Condition>>> {
        let found: Vec<_> = open.sections(key).iter().map(|open| group(open, method, schema, slots)).collect();
        found.into_iter().collect()
    };
    let (all, any, none) = (groups("all"), groups("any"), groups("none"));
    let boxed = |groups: Vec<Vec<Condition>>| groups.into_iter().map(Vec::into_boxed_slice).collect::<Box<[_]>>();
    let mut conditions = metadata?;
    conditions.extend(message?);
    conditions.extend(expression?);
    conditions.extend(all?.into_iter().flatten());
    let (any, none) = (any?, none?);
    if let Some(place) = open.empty_list("any") {
        open.reader.problem_help(
            place,
            "`any` of no groups never holds",
            "add a group of conditions, or leave `any` out",
        );
        return None;
    }
    if !any.is_empty() {
        conditions.push(Condition::Any(boxed(any)));
    }
    if !none.is_empty() {
        conditions.push(Condition::None(boxed(none)));
    }
    Some(conditions)
}

/// Conditions on metadata; names in lower case from here on.
fn metadata(open: &Open<'_>, method: &Method) -> Option<Vec<Condition>> {
    let one = |pair: &Pair| {
        let name = pair.key.to_ascii_lowercase();
        let token = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        if name.is_empty() || !name.bytes().all(token) {
            open.reader.problem_help(
                pair.place,
                format!("`{}` is no name of metadata", shorten(&pair.key)),
                "write letters, digits, `-`, `_` and `.`",
            );
            return None;
        }
        let domain = Domain::Kind(if Metadata::is_binary(&name) { Kind::Bytes } else { Kind::String });
        let called = format!("metadata {name}");
        let asked = Asked { domain, name: &called, implicit: false, types: method.input(), reader: open.reader };
        asked.test(&pair.value).map(|test| Condition::Metadata { name: name.into(), test })
    };
    open.pairs("metadata").iter().map(one).collect::<Vec<_>>().into_iter().collect()
}

/// The sample of a rule, its messages checked against the first method's type.
fn sample(open: &Open<'_>, methods: &[&Method]) -> Option<serde_json::Value> {
    let open = open.section_if("sample")?;
    let metadata = open.text_pairs("metadata").into_iter().map(|(pair, values)| {
        (pair.key.clone(), values.iter().map(|text| serde_json::Value::from(text.value)).collect())
    });
    let metadata: serde_json::Map<String, serde_json::Value> = metadata.collect();
    let nodes: Vec<_> = match open.json("messages").map(|node| (node, &node.value)) {
        Some((_, Value::List(items))) => items.iter().collect(),
        Some((node, _)) => vec![node],
        None => Vec::new(),
    };
    let mut messages = Vec::new();
    for node in nodes {
        let json = source::json(node, false);
        if let Some(method) = methods.first() {
            let input = method.input();
            let read = DynamicMessage::from_json(Arc::clone(input.pool()), input.index(), &json.to_string());
            if let Err(error) = read {
                let text = error.to_string();
                let text = text.split(" at line ").next().unwrap_or_default();
                let message = format!("{} is no `{}`: {text}", show(node), input.full_name());
                open.reader.problem_help(node.place, message, "write it as in JSON");
            }
        }
        messages.push(json);
    }
    Some(serde_json::json!({ "metadata": metadata, "messages": messages }))
}
