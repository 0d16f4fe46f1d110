//! The keys of a file of rules: what the reader, its messages, the JSON Schema and the reference page are made from.

use leat_config::table::{Key, Kind, Section};

/// Highest priority.
pub(crate) const PRIORITY_MAX: u64 = 1_000_000;
/// Most answers of a rule that may be counted out.
pub(crate) const TIMES_MAX: u64 = 1_000_000_000;

const TEXT: Kind = Kind::Text { what: "text", example: "text" };

/// A file of several rules. A file of one rule is that rule's mapping, and a list of rules may stand alone.
pub(crate) static FILE: Section = Section::new(
    "file",
    "a file of rules",
    "A file of rules, in YAML or JSON. A file may also be a single [rule](#rule), or a list of them without the key.",
    &[Key::required("rules", Kind::List { of: &Kind::Section(&RULE), one: false }, "The rules.")],
)
.extensible();

/// A rule.
pub(crate) static RULE: Section = Section::new(
    "rule",
    "a rule",
    "Which calls, and what they are answered with. Of the rules that match a call the one with the highest `priority` \
     answers; of those the one with more conditions, then the one with more exact ones (`equals`), then one that names \
     its method before one for a whole service, and that before one for all, then the one that stands first.",
    &[
        Key::optional(
            "name",
            Kind::Text { what: "a name", example: "found" },
            "How messages, records and the admin API call the rule; its counts outlive a reload under this name. No two \
             rules have the same. Left out: the file's name and the rule's number in it.",
        )
        .aka(&["id", "title"]),
        Key::required(
            "method",
            Kind::Text { what: "a method's full name", example: "shop.v1.Orders/Get" },
            "The method, `package.Service/Method`; `package.Service/*` is every method of a service, and `*` is every method.",
        )
        .aka(&["rpc", "service", "endpoint", "path"]),
        Key::default(
            "priority",
            Kind::Number { min: 0, max: PRIORITY_MAX },
            "0",
            "Higher ones answer first, whatever their conditions.",
        )
        .aka(&["weight", "order"]),
        Key::optional("match", Kind::Section(&MATCH), "The conditions; all of them must hold. Left out: every call.")
            .aka(&["when", "request", "input", "matches", "on"]),
        Key::optional(
            "scenario",
            Kind::Section(&SCENARIO),
            "The rule answers in a certain state of a scenario, and puts it into another.",
        )
        .aka(&["state"]),
        Key::optional(
            "times",
            Kind::Number { min: 1, max: TIMES_MAX },
            "How often the rule answers in a session; after that it is as if it were not there. Left out: always.",
        )
        .aka(&["count", "limit"]),
        REPLY,
        Key::optional(
            "sample",
            Kind::Section(&SAMPLE),
            "A request that the rule is for. Nothing matches by it: recordings keep what was sent, so that `leat mock --drift` \
             can send it again.",
        )
        .aka(&["example"]),
    ],
)
.extensible();

const REPLY: Key = Key::required("reply", Kind::Section(&crate::mock::reply::REPLY), "What a call is answered with.")
    .aka(&["response", "output", "returns"]);

/// The conditions of a rule.
pub(crate) static MATCH: Section = Section::new(
    "match",
    "conditions",
    "Conditions on a call; all of them must hold.",
    &[
        Key::optional(
            "metadata",
            Kind::Map { key: "the name of a metadata field, in any case", of: &Kind::JsonOr(&PREDICATE) },
            "Conditions on metadata: a text that the value is, or a [predicate](#predicate). Of a field that stands more \
             than once, one value has to fit. Values of names that end in `-bin` are bytes, written in Base64. `null`: the \
             field is not there.",
        )
        .aka(&["headers", "header"]),
        Key::optional(
            "message",
            Kind::Map { key: "a field's name, or a path such as `customer.name`", of: &Kind::JsonOr(&PREDICATE) },
            "Conditions on the request's message (of a client stream: its first): a value that the field has, or a \
             [predicate](#predicate). Names are those of the .proto file or of JSON; extensions stand in brackets. \
             Fields that are not named do not matter, in messages inside of it neither. `null`: the field is not there.",
        )
        .aka(&["body", "request", "fields"]),
        Key::optional(
            "cel",
            Kind::Text { what: "a CEL expression", example: "request.id > 5 && calls < 3" },
            "A condition in CEL over `request`, `metadata` (a map of the first values, names in lower case) and `calls` \
             (how often this rule has answered in this session before).",
        )
        .aka(&["expression", "expr"]),
        Key::optional("all", Kind::List { of: &GROUP, one: true }, "Groups of conditions that must all hold.").aka(&["and"]),
        Key::optional("any", Kind::List { of: &GROUP, one: true }, "Groups of conditions of which one must hold.").aka(&["or"]),
        Key::optional("none", Kind::List { of: &GROUP, one: true }, "Groups of conditions of which none may hold.").aka(&["not", "nor"]),
    ],
);

static GROUP: Kind = Kind::Section(&MATCH);

/// A request that a rule is for.
pub(crate) static SAMPLE: Section = Section::new(
    "sample",
    "a sample of a request",
    "A request as it was sent once.",
    &[
        Key::optional(
            "metadata",
            Kind::Map { key: "a name", of: &Kind::List { of: &TEXT, one: true } },
            "Its metadata.",
        )
        .aka(&["headers"]),
        Key::optional("messages", Kind::List { of: &Kind::Json, one: true }, "Its messages, in their JSON form.")
            .aka(&["message"]),
    ],
);

/// A rule's part in a scenario.
pub(crate) static SCENARIO: Section = Section::new(
    "scenario",
    "a scenario",
    "A scenario is a state with a name, one for each session; it begins as `start`.",
    &[
        Key::required("name", Kind::Text { what: "a name", example: "order" }, "Which scenario."),
        Key::optional("in", Kind::Text { what: "a state", example: "placed" }, "The rule answers only in this state.")
            .aka(&["required", "state", "when", "from"]),
        Key::optional(
            "to",
            Kind::Text { what: "a state", example: "shipped" },
            "The state after the rule has answered.",
        )
        .aka(&["set", "new", "next"]),
    ],
);

/// What stands in place of a value: its keys are operators.
pub(crate) static PREDICATE: Section = Section::new(
    "predicate",
    "a predicate",
    "A mapping whose keys are operators, all of which must hold. Where a mapping could also mean fields of a message, a \
     name of a field is that field, and where it could mean keys of a map, it means keys; an operator is then written \
     with a dollar: `$exists`. A field that is not there fits nothing but `exists: false`, `null` and what `not` turns \
     round. A number or an enum that has no presence is there, and zero; for `exists` it is there if it is not zero. What \
     a .proto file declares as default is the value of a field that is not there.",
    &[
        Key::optional("equals", Kind::Json, "The value is this: the same as writing the value alone. Of a message: this \
            and nothing else; of a list: these elements in this order.").aka(&["eq", "is", "exact"]),
        Key::optional("not", Kind::Json, "A value or a predicate that does not hold.").aka(&["ne", "neq"]),
        Key::optional("exists", Kind::Flag, "Whether the field is there; for a list or a map, whether it has elements.").aka(&["present", "exist"]),
        Key::optional("in", Kind::List { of: &Kind::Json, one: false }, "The value is one of these.").aka(&["one_of"]),
        Key::optional("gt", Kind::Json, "Greater than this. Texts and bytes compare by their bytes, enums by their numbers; timestamps and durations compare too.").aka(&["greater_than"]),
        Key::optional("gte", Kind::Json, "Greater than this, or this.").aka(&["ge", "min"]),
        Key::optional("lt", Kind::Json, "Less than this.").aka(&["less_than"]),
        Key::optional("lte", Kind::Json, "Less than this, or this.").aka(&["le", "max"]),
        Key::optional("regex", Kind::Text { what: "a regular expression", example: "^eu-[0-9]+$" }, "Is found in the text: anywhere, unless `^` and `$` tie it to the ends. Classes such as `\\d` are Unicode's.").aka(&["matches", "pattern"]),
        Key::optional("glob", Kind::Text { what: "a pattern", example: "A*" }, "Is the whole text: `*` stands for any characters, `?` for one, `[a-z]` for one of a set; `\\` takes the next character as itself.").aka(&["like", "wildcard"]),
        Key::optional("contains", Kind::Json, "A part of the text or of the bytes; of a list an element, or with a list several elements in any order.").aka(&["includes", "has"]),
        Key::optional("any", Kind::Json, "Of a list or a map: some element fits this value or predicate. Of anything else: a list of values or predicates of which one fits.").aka(&["or", "some"]),
        Key::optional("all", Kind::Json, "Of a list or a map: every element fits. Of anything else: a list of which all fit.").aka(&["and", "every"]),
        Key::optional("none", Kind::Json, "Of a list or a map: no element fits. Of anything else: a list of which none fits.").aka(&["nor"]),
        Key::optional("unordered", Kind::List { of: &Kind::Json, one: false }, "Of a list: these elements and no others, in any order.").aka(&["any_order", "set"]),
        Key::optional("size", Kind::Json, "How many elements a list or a map has, characters a text, bytes bytes: a number or a predicate.").aka(&["length", "len", "count"]),
    ],
);
