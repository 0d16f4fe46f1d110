//! The table of a reply, and how it is read.

use leat_config::table::{Group, Key, Kind, Open, Section};

use super::body::Body;
use super::delay::{DELAY, Delay};
use super::error::{ERROR, Error};
use super::fault::{FAULT, Planned};
use super::fields::Fields;
use super::program::{Builder, Instruction};
use super::script::{self, STEP};
use super::single::Reply;
use super::stream::{self, ITEM, Order};
use super::target::Target;
use super::template::Names;
use super::weighted::WEIGHTED;

/// Rounds of a stream at most.
const LOOP_MAX: u64 = 1_000_000_000;

/// What a rule answers: one reply, or several of which one is chosen by weight or by turns.
pub static REPLY: Section = Section::new(
    "reply",
    "a reply",
    "What a rule answers. One of `message`, `stream`, `script`, `error`, `fault`, `weighted` and `sequence` is there.",
    &[
        Key::optional(
            "message",
            Kind::Json,
            "The message in protobuf's JSON form; fields by their names in the .proto file or in JSON. Text may have \
             templates: `{{ expression }}`. A value that is one template takes the type that the field has, also lists and \
             messages; `\"{{ request }}\"` alone sends the request back.",
        )
        .aka(&["body", "data", "output", "response"]),
        Key::optional(
            "stream",
            Kind::List { of: &Kind::Section(&ITEM), one: true },
            "Messages, one after the other, for a method that streams its replies.",
        )
        .aka(&["messages"]),
        Key::optional(
            "script",
            Kind::List { of: &Kind::Section(&STEP), one: false },
            "Steps: what the server does while the client sends. For methods that stream.",
        )
        .aka(&["steps"]),
        Key::optional("error", Kind::Section(&ERROR), "The error that the call ends with, after what was sent."),
        Key::optional(
            "headers",
            Kind::Json,
            "Headers: a mapping from names to values or lists of values, which may be templates, or one template that makes a \
             map, or a list of what has a `name` and a `value`. Values of names that end in `-bin` are Base64.",
        )
        .aka(&["metadata"]),
        Key::optional("trailers", Kind::Json, "Trailers, written as `headers` are.").aka(&["trailing_metadata"]),
        Key::optional("delay", Kind::Section(&DELAY), "How long to wait before the headers.").aka(&["latency"]),
        Key::optional(
            "loop",
            Kind::NumberOr { min: 1, max: LOOP_MAX, word: "forever" },
            "How often the whole stream is sent. Without it: once.",
        )
        .aka(&["repeat"]),
        Key::default(
            "order",
            Kind::Choice(&[
                ("given", "as they are written"),
                ("reversed", "from the last to the first"),
                ("shuffled", "in an order by the seed, another one each time"),
            ]),
            "given",
            "The order of the stream.",
        ),
        Key::default(
            "templates",
            Kind::Flag,
            "true",
            "Whether `{{` in text begins a template. With `false` every text stands for itself.",
        ),
        Key::optional(
            "fault",
            Kind::List { of: &Kind::Section(&FAULT), one: true },
            "Breaks below RPC, on all calls or on some.",
        )
        .aka(&["faults"]),
        Key::optional(
            "weighted",
            Kind::List { of: &Kind::Section(&WEIGHTED), one: false },
            "Replies of which each call gets one by the seed, as often as its weight says.",
        )
        .aka(&["replies", "random"]),
        Key::optional(
            "sequence",
            Kind::List { of: &Kind::Section(&REPLY), one: false },
            "Replies of which each call in a session gets the next one.",
        ),
        Key::default(
            "then",
            Kind::Choice(&[
                ("repeat_last", "the last one goes on"),
                ("loop", "it starts again"),
                ("none", "the rule answers no more, and other rules may"),
            ]),
            "repeat_last",
            "What follows the end of `sequence`.",
        ),
    ],
)
.groups(&[
    Group { keys: &["message", "stream", "script", "weighted", "sequence"], required: false },
    Group { keys: &["message", "error"], required: false },
]);

/// Reads a reply that is one reply. `None`: problems were reported.
pub(super) fn reply(open: &Open<'_>, target: &Target) -> Option<Reply> {
    let names = target.names(open.flag("templates"));
    let headers = Fields::compile(open.json("headers"), &names, open.reader);
    let trailers = Fields::compile(open.json("trailers"), &names, open.reader);
    let delay = open.section_if("delay").map(|delay| Delay::compile(&delay, &names));
    let faults: Vec<Option<Planned>> = open.sections("fault").iter().map(Planned::compile).collect();
    let error = open.section_if("error").map(|error| Error::compile(&error, target, &names));
    let order = [("given", Order::Given), ("reversed", Order::Reversed), ("shuffled", Order::Shuffled)];
    let order = open.choice("order", &order).unwrap_or(Order::Given);
    let rounds = match open.place_of("loop") {
        None => {
            let none = open.number("loop");
            debug_assert!(none.is_none());
            Some(1)
        }
        Some(_) => open.number("loop"),
    };
    let mut program = Builder::default();
    let body = body(open, order, rounds, target, &names, delay, &mut program);
    let error = match error {
        None => None,
        Some(error) => Some(error?),
    };
    let faults: Vec<Planned> = faults.into_iter().collect::<Option<_>>()?;
    if body? == Kinds::Nothing && error.is_none() && faults.is_empty() {
        let help = "add `message: { … }` (`message: {}` for an empty one), `stream`, `script`, `error` or `fault`";
        open.reader.problem_help(open.place(), "a reply without anything to reply", help);
        return None;
    }
    Some(Reply::new(target.clone(), headers?, trailers?, program.finish(), error, faults))
}

/// What a reply is made of, besides an error.
#[derive(PartialEq)]
enum Kinds {
    Nothing,
    Something,
}

fn body(
    open: &Open<'_>,
    order: Order,
    rounds: Option<u64>,
    target: &Target,
    names: &Names,
    delay: Option<Option<super::delay::Bounded>>,
    program: &mut Builder,
) -> Option<Kinds> {
    let message = open.json("message");
    let (stream_at, script_at) = (open.place_of("stream"), open.place_of("script"));
    // Asked for, whatever becomes of them.
    let nodes = (open.json("stream"), open.json("script"));
    debug_assert_eq!((nodes.0.is_some(), nodes.1.is_some()), (stream_at.is_some(), script_at.is_some()));
    let refuse = |place, message: &str, help: &str| {
        open.reader.problem_help(place, format!("{message}, and {} does not", target.method), help);
        None
    };
    match (stream_at, script_at) {
        (Some(place), _) if !target.server_streams => {
            return refuse(place, "`stream` is for methods that stream replies", "write `message` instead");
        }
        (_, Some(place)) if !target.server_streams && !target.client_streams => {
            return refuse(place, "`script` is for methods that stream", "write `message` instead");
        }
        _ => {}
    }
    // A delay that cannot be read does not hide what is wrong with the message.
    let (delayed, delay) = (!matches!(delay, Some(None)), delay.flatten());
    // A client that streams to a method with one reply is heard out first. Where both stream, a reply without a script
    // answers the first request.
    if script_at.is_none() && target.client_streams && !target.server_streams {
        program.push(Instruction::Collect);
    }
    program.wait(delay);
    let kinds = match (script_at, stream_at, message) {
        (Some(_), ..) => script::compile(&open.sections("script"), target, names, program).map(|()| Kinds::Something),
        (None, Some(_), _) => stream::compile(open, order, rounds, target, names, program).map(|()| Kinds::Something),
        (None, None, None) => Some(Kinds::Nothing),
        (None, None, Some(node)) => Body::compile(node, target, names, open.reader).map(|body| {
            program.push(Instruction::Send(body));
            Kinds::Something
        }),
    };
    kinds.filter(|_| delayed)
}
