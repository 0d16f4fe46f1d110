//! The simple rules of a field, as data: for who makes values, such as fakes, that must keep them.

use buffa_descriptor::reflect::{DynamicMessage, ReflectMessage, Value as Proto};

/// What a field's value must keep. Rules that are expressions of CEL are not among them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Constraints {
    /// The field must be set.
    pub required: bool,
    /// The only value that is right.
    pub only: Option<Proto>,
    /// The values that are right.
    pub within: Vec<Proto>,
    /// Values that are not.
    pub not_within: Vec<Proto>,
    /// The least value, of numbers, timestamps and durations; exclusive where `.1` is false.
    pub least: Option<(Proto, bool)>,
    /// The greatest, likewise.
    pub greatest: Option<(Proto, bool)>,
    /// The least size: characters, bytes, items, pairs.
    pub size_min: Option<u64>,
    /// The greatest.
    pub size_max: Option<u64>,
    /// What a string begins with.
    pub prefix: Option<String>,
    /// What it ends with.
    pub suffix: Option<String>,
    /// What it contains.
    pub contains: Option<String>,
    /// The pattern of RE2 that it matches.
    pub pattern: Option<String>,
    /// A well-known format.
    pub format: Option<Format>,
    /// Items differ from each other.
    pub unique: bool,
    /// Only values that an enum names.
    pub defined_only: bool,
    /// Numbers other than NaN and the infinities.
    pub finite: bool,
    /// A timestamp in the past (`false`) or in the future (`true`).
    pub future: Option<bool>,
    /// How far a timestamp is from now at most, a `google.protobuf.Duration`.
    pub near: Option<Proto>,
    /// Examples that the author gives, which are right values.
    pub examples: Vec<Proto>,
    /// Of a list's items, or a map's values.
    pub items: Option<Box<Constraints>>,
    /// Of a map's keys.
    pub keys: Option<Box<Constraints>>,
}

/// A well-known format, by the name of its rule: `email`, `uuid`, `ip` …
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Format(pub String);

impl Constraints {
    /// Reads a `buf.validate.FieldRules`.
    pub(super) fn of(rules: &DynamicMessage) -> Constraints {
        let mut found = Constraints { required: super::declared::flag(rules, "required"), ..Constraints::default() };
        rules.for_each_set(&mut |field, _| {
            if let Some(Proto::Message(kind)) = rules.field_by_number(field.number()) {
                kind.for_each_set(&mut |rule, _| {
                    if let Some(value) = kind.field_by_number(rule.number()) {
                        found.take(rule.name(), value);
                    }
                });
            }
        });
        found
    }

    fn take(&mut self, name: &str, value: &Proto) {
        let nested = |value: &Proto| {
            if let Proto::Message(rules) = value { Some(Box::new(Constraints::of(rules))) } else { None }
        };
        match (name, value) {
            ("const", value) => self.only = Some(value.clone()),
            ("in", Proto::List(items)) => self.within.clone_from(items),
            ("not_in", Proto::List(items)) => self.not_within.clone_from(items),
            ("example", Proto::List(items)) => self.examples.clone_from(items),
            ("gt" | "gte", value) => self.least = Some((value.clone(), name == "gte")),
            ("lt" | "lte", value) => self.greatest = Some((value.clone(), name == "lte")),
            ("len" | "len_bytes", Proto::U64(size)) => (self.size_min, self.size_max) = (Some(*size), Some(*size)),
            ("min_len" | "min_bytes" | "min_items" | "min_pairs", Proto::U64(size)) => self.size_min = Some(*size),
            ("max_len" | "max_bytes" | "max_items" | "max_pairs", Proto::U64(size)) => self.size_max = Some(*size),
            ("prefix", Proto::String(text)) => self.prefix = Some(text.clone()),
            ("suffix", Proto::String(text)) => self.suffix = Some(text.clone()),
            ("contains", Proto::String(text)) => self.contains = Some(text.clone()),
            ("pattern", Proto::String(text)) => self.pattern = Some(text.clone()),
            ("within", value) => self.near = Some(value.clone()),
            ("unique", Proto::Bool(on)) => self.unique = *on,
            ("defined_only", Proto::Bool(on)) => self.defined_only = *on,
            ("finite", Proto::Bool(on)) => self.finite = *on,
            ("gt_now", Proto::Bool(true)) => self.future = Some(true),
            ("lt_now", Proto::Bool(true)) => self.future = Some(false),
            ("items" | "values", value) => self.items = nested(value),
            ("keys", value) => self.keys = nested(value),
            ("strict", _) => {}
            ("well_known_regex", Proto::EnumNumber(which)) => {
                self.format = Some(Format(if *which == 1 { "header_name" } else { "header_value" }.to_owned()));
            }
            (format, Proto::Bool(true)) => self.format = Some(Format(format.to_owned())),
            _ => {}
        }
    }
}
