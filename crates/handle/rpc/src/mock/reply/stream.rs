//! A reply of several messages, as a list.

use leat_config::table::{Key, Kind, Open, Section};

use super::body::Body;
use super::delay::{DELAY, Delay};
use super::program::{Builder, Instruction, ROUNDS_MAX};
use super::target::Target;
use super::template::{At, Names, Template};

pub(super) static ITEM: Section = Section::new(
    "stream_item",
    "a message of a stream",
    "A message of a stream, or one for each element of a list.",
    &[
        Key::required("message", Kind::Json, "The message in protobuf's JSON form. Templates may stand in it.")
            .aka(&["send", "data"]),
        Key::optional("delay", Kind::Section(&DELAY), "How long to wait before it."),
        Key::optional(
            "each",
            Kind::Text { what: "an expression that makes a list", example: "request.items" },
            "Sends one message for each element of this list, which is `item` in its templates.",
        )
        .aka(&["for", "for_each", "foreach"]),
    ],
);

/// In which order the messages are sent.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    Given,
    Reversed,
    Shuffled,
}

/// Appends the stream of a reply. `None`: problems were reported.
pub(super) fn compile(
    reply: &Open<'_>,
    order: Order,
    rounds: Option<u64>,
    target: &Target,
    names: &Names,
    program: &mut Builder,
) -> Option<()> {
    let mut items = reply.sections("stream");
    if order == Order::Reversed {
        items.reverse();
    }
    let repeated = rounds != Some(1);
    let start = program.next();
    if repeated {
        program.push(Instruction::Repeat { rounds: rounds.unwrap_or(ROUNDS_MAX), end: 0 });
    }
    let shuffle = program.next();
    let mut starts = Vec::with_capacity(items.len());
    if order == Order::Shuffled {
        program.push(Instruction::Shuffle { starts: Vec::new(), end: 0 });
    }
    let mut complete = true;
    for open in &items {
        starts.push(program.next());
        complete &= item(open, target, names, program).is_some();
        if order == Order::Shuffled {
            program.push(Instruction::Again);
        }
    }
    if order == Order::Shuffled {
        program.end_shuffle(shuffle, starts);
    }
    if repeated {
        program.end(start);
    }
    complete.then_some(())
}

fn item(open: &Open<'_>, target: &Target, names: &Names, program: &mut Builder) -> Option<()> {
    let each = open.text("each");
    // Opened where it is read, since what is opened must be read.
    let delayed = open.json("delay").is_some();
    let message = open.json("message");
    let list = match each {
        None => None,
        Some(text) => {
            let at = At::new(open.reader, text.place, text.value, false);
            Some(Template::expression(text.value, names, &at)?)
        }
    };
    let names = list.as_ref().map_or_else(|| names.clone(), |list| names.inside(&list.result()));
    let start = program.next();
    let looped = list.is_some();
    if let Some(list) = list {
        program.push(Instruction::Each { list, end: 0 });
    }
    if delayed && let Some(delay) = open.section_if("delay") {
        // The client sees the headers before it waits.
        program.push(Instruction::Headers);
        program.wait(Some(Delay::compile(&delay, &names)?));
    }
    program.push(Instruction::Send(Body::compile(message?, target, &names, open.reader)?));
    if looped {
        program.end(start);
    }
    Some(())
}
