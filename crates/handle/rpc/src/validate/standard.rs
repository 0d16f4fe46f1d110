//! The standard rules of protovalidate: their names, what they say, and the expressions that judge. Native checks spare
//! most evaluations; these decide where those do not.

use buffa_descriptor::reflect::{DynamicMessage, Value as Proto};

use super::check::known_format;
use super::declared::get;
use super::expression::{Known, Written};
use crate::cel::format;

/// The expressions of the rule `name` of `buf.validate`'s rules for `kind`; none for a rule that is not known here.
pub(super) fn written(kind: &str, name: &str, value: &Proto, rules: &DynamicMessage) -> Vec<Written> {
    match (kind, name) {
        ("string", "well_known_regex") => header(value, rules),
        ("string", name) => match (format_noun(name), value) {
            (Some(noun), Proto::Bool(true)) => formatted(kind, name, noun, known_format(name).map(Known::Format)),
            (Some(_), _) => vec![Written::passing()],
            (None, _) => one(kind, name, string(name)),
        },
        ("bytes", "ip" | "ipv4" | "ipv6" | "uuid") => match value {
            Proto::Bool(true) => {
                let (noun, sizes): (_, &'static [usize]) = match name {
                    "ip" => ("IP address", &[4, 16]),
                    "ipv4" => ("IPv4 address", &[4]),
                    "ipv6" => ("IPv6 address", &[16]),
                    _ => ("UUID", &[16]),
                };
                formatted(kind, name, noun, Some(Known::Sized(sizes)))
            }
            _ => vec![Written::passing()],
        },
        ("bytes", name) => one(kind, name, bytes(name)),
        ("repeated" | "map" | "field_mask", name) => one(kind, name, container(kind, name)),
        (_, "lt" | "lte") => upper(kind, name),
        (_, "gt" | "gte") => lower(kind, name),
        (_, name) => one(kind, name, scalar(name)),
    }
}

/// One expression: what must hold of `this`, what is wrong where it does not, and what stands for the directives in that.
type Rule = Option<(&'static str, &'static str, &'static str)>;

fn one(kind: &str, name: &str, rule: Rule) -> Vec<Written> {
    let Some((holds, message, arguments)) = rule else { return Vec::new() };
    vec![expression(format!("{kind}.{name}"), holds, message, arguments)]
}

fn expression(id: String, holds: &str, message: &str, arguments: &str) -> Written {
    let source = match arguments {
        "" => holds.to_owned(),
        arguments => format!("({holds}) ? '' : '{message}'.format([{arguments}])"),
    };
    Written { id, message: if arguments.is_empty() { message.to_owned() } else { String::new() }, source, known: None }
}

fn scalar(name: &str) -> Rule {
    Some(match name {
        "const" => ("this == rule", "must equal %s", "rule"),
        "in" => ("this in rule", "must be in list %s", "rule"),
        "not_in" => ("!(this in rule)", "must not be in list %s", "rule"),
        "finite" => ("!rule || !(this.isNan() || this.isInf())", "must be finite", ""),
        "lt_now" => ("!rule || this <= now", "must be less than now", ""),
        "gt_now" => ("!rule || this >= now", "must be greater than now", ""),
        "within" => ("this >= now - rule && this <= now + rule", "must be within %s of now", "rule"),
        "example" | "defined_only" => ("true", "", ""),
        _ => return None,
    })
}

fn string(name: &str) -> Rule {
    Some(match name {
        "const" => ("this == rule", "must equal `%s`", "rule"),
        "len" => ("uint(size(this)) == rule", "must be %s characters", "rule"),
        "min_len" => ("uint(size(this)) >= rule", "must be at least %s characters", "rule"),
        "max_len" => ("uint(size(this)) <= rule", "must be at most %s characters", "rule"),
        "len_bytes" => ("uint(size(bytes(this))) == rule", "must be %s bytes", "rule"),
        "min_bytes" => ("uint(size(bytes(this))) >= rule", "must be at least %s bytes", "rule"),
        "max_bytes" => ("uint(size(bytes(this))) <= rule", "must be at most %s bytes", "rule"),
        "pattern" => ("this.matches(rule)", "does not match regex pattern `%s`", "rule"),
        "prefix" => ("this.startsWith(rule)", "does not have prefix `%s`", "rule"),
        "suffix" => ("this.endsWith(rule)", "does not have suffix `%s`", "rule"),
        "contains" => ("this.contains(rule)", "does not contain substring `%s`", "rule"),
        "not_contains" => ("!this.contains(rule)", "contains substring `%s`", "rule"),
        "strict" => ("true", "", ""),
        name => return scalar(name),
    })
}

fn bytes(name: &str) -> Rule {
    Some(match name {
        "const" => ("this == rule", "must be %x", "rule"),
        "len" => ("uint(size(this)) == rule", "must be %s bytes", "rule"),
        "min_len" => ("uint(size(this)) >= rule", "must be at least %s bytes", "rule"),
        "max_len" => ("uint(size(this)) <= rule", "must be at most %s bytes", "rule"),
        "pattern" => ("string(this).matches(rule)", "must match regex pattern `%s`", "rule"),
        "prefix" => ("this.startsWith(rule)", "does not have prefix %x", "rule"),
        "suffix" => ("this.endsWith(rule)", "does not have suffix %x", "rule"),
        "contains" => ("this.contains(rule)", "does not contain %x", "rule"),
        name => return scalar(name),
    })
}

fn container(kind: &str, name: &str) -> Rule {
    const WITHIN: &str = "this.paths.all(path, rule.exists(each, path == each || path.startsWith(each + '.')))";
    const OUTSIDE: &str = "!this.paths.exists(path, rule.exists(each, path == each || path.startsWith(each + '.')))";
    Some(match (kind, name) {
        ("repeated", "min_items") => ("uint(size(this)) >= rule", "must contain at least %d item(s)", "rule"),
        ("repeated", "max_items") => ("uint(size(this)) <= rule", "must contain no more than %s item(s)", "rule"),
        ("repeated", "unique") => ("!rule || this.unique()", "repeated value must contain unique items", ""),
        ("map", "min_pairs") => ("uint(size(this)) >= rule", "map must be at least %d entries", "rule"),
        ("map", "max_pairs") => ("uint(size(this)) <= rule", "map must be at most %d entries", "rule"),
        ("field_mask", "const") => ("this.paths == rule.paths", "must equal paths %s", "rule.paths"),
        ("field_mask", "in") => (WITHIN, "must only contain paths in %s", "rule"),
        ("field_mask", "not_in") => (OUTSIDE, "must not contain any paths in %s", "rule"),
        // What is in containers has rules of its own.
        (_, "items" | "keys" | "values" | "example") => ("true", "", ""),
        _ => return None,
    })
}

const UPPER: [(&str, &str, &str); 2] = [("lt", "<", "less than"), ("lte", "<=", "less than or equal to")];
const LOWER: [(&str, &str, &str); 2] = [("gt", ">", "greater than"), ("gte", ">=", "greater than or equal to")];

/// An upper end by itself; where there is a lower one too, that one judges both.
fn upper(kind: &str, name: &str) -> Vec<Written> {
    let found = UPPER.iter().find(|(each, ..)| *each == name);
    found.map_or_else(Vec::new, |(_, operator, words)| {
        let holds = format!("has(rules.gt) || has(rules.gte) || this {operator} rule");
        vec![expression(format!("{kind}.{name}"), &holds, &format!("must be {words} %s"), "rule")]
    })
}

/// A lower end: by itself, with an upper one above it, or with one below it, which excludes what lies between.
fn lower(kind: &str, name: &str) -> Vec<Written> {
    let Some((_, operator, words)) = LOWER.iter().find(|(each, ..)| *each == name) else { return Vec::new() };
    let alone = format!("has(rules.lt) || has(rules.lte) || this {operator} rule");
    let mut found = vec![expression(format!("{kind}.{name}"), &alone, &format!("must be {words} %s"), "rule")];
    for (other, upper, upper_words) in UPPER {
        let both = format!(
            "!has(rules.{other}) || rules.{other} < rule || (this {operator} rule && this {upper} rules.{other})"
        );
        let either = format!(
            "!has(rules.{other}) || rules.{other} >= rule || this {operator} rule || this {upper} rules.{other}"
        );
        let arguments = format!("rule, rules.{other}");
        let id = format!("{kind}.{name}_{other}");
        found.push(expression(id.clone(), &both, &format!("must be {words} %s and {upper_words} %s"), &arguments));
        found.push(expression(
            id + "_exclusive",
            &either,
            &format!("must be {words} %s or {upper_words} %s"),
            &arguments,
        ));
    }
    found
}

/// A format, and the rule that names its breach by an empty value.
fn formatted(kind: &str, name: &str, noun: &str, known: Option<Known>) -> Vec<Written> {
    let Some(known) = known else { return Vec::new() };
    let written = |suffix: &str, message: String, known: Known| Written {
        id: format!("{kind}.{name}{suffix}"),
        message,
        source: String::new(),
        known: Some(known),
    };
    if name == "uri_ref" {
        // An empty reference is one.
        return vec![written("", format!("must be a valid {noun}"), known)];
    }
    let empty_noun = if name == "host_and_port" { "host and port pair" } else { noun };
    vec![
        written("", format!("must be a valid {noun}"), Known::UnlessEmpty(Box::new(known))),
        written("_empty", format!("value is empty, which is not a valid {empty_noun}"), Known::NotEmpty),
    ]
}

fn format_noun(name: &str) -> Option<&'static str> {
    Some(match name {
        "email" => "email address",
        "hostname" => "hostname",
        "ip" => "IP address",
        "ipv4" => "IPv4 address",
        "ipv6" => "IPv6 address",
        "uri" => "URI",
        "uri_ref" => "URI Reference",
        "address" => "hostname, or ip address",
        "uuid" => "UUID",
        "tuuid" => "trimmed UUID",
        "ip_with_prefixlen" | "ip_prefix" => "IP prefix",
        "ipv4_with_prefixlen" => "IPv4 address with prefix length",
        "ipv6_with_prefixlen" => "IPv6 address with prefix length",
        "ipv4_prefix" => "IPv4 prefix",
        "ipv6_prefix" => "IPv6 prefix",
        "host_and_port" => "host (hostname or IP address) and port pair",
        "ulid" => "ULID",
        "protobuf_fqn" => "fully-qualified Protobuf name",
        "protobuf_dot_fqn" => "fully-qualified Protobuf name with a leading dot",
        _ => return None,
    })
}

/// Names and values of header fields, which have a strict form and a loose one.
fn header(value: &Proto, rules: &DynamicMessage) -> Vec<Written> {
    let strict = !matches!(get(rules, "strict"), Some(Proto::Bool(false)));
    match value {
        Proto::EnumNumber(1) => {
            let known: fn(&str) -> bool = if strict {
                |text| format::is_header_name(text, true)
            } else {
                |text| format::is_header_name(text, false)
            };
            formatted("string", "well_known_regex.header_name", "HTTP header name", Some(Known::Format(known)))
        }
        Proto::EnumNumber(2) => {
            let known: fn(&str) -> bool = if strict {
                |text| format::is_header_value(text, true)
            } else {
                |text| format::is_header_value(text, false)
            };
            let id = "string.well_known_regex.header_value".to_owned();
            vec![Written {
                id,
                message: "must be a valid HTTP header value".to_owned(),
                source: String::new(),
                known: Some(Known::Format(known)),
            }]
        }
        _ => vec![Written::passing()],
    }
}
