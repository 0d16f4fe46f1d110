//! A reply as a script: what the server does, step by step, while the client sends.

use leat_config::table::{Group, Key, Kind, Open, Section, Text};

use super::body::Body;
use super::delay::{DELAY, Delay};
use super::error::{ERROR, Error};
use super::program::{Builder, Instruction, ROUNDS_MAX};
use super::target::Target;
use super::template::{At, Expression, Names, Template};

const LIST: Kind = Kind::Text { what: "an expression that makes a list", example: "request.items" };

pub(super) static STEP: Section = Section::new(
    "script_step",
    "a step of a script",
    "One thing that the server does. A script that ends succeeds.",
    &[
        Key::optional(
            "expect",
            Kind::Text { what: "`any`, or an expression about `last`", example: "any" },
            "Waits for a request. With an expression of CEL, such as `last.amount > 10`, the call fails with \
             `failed_precondition` where that is not true of it.",
        )
        .aka(&["receive", "recv"]),
        Key::optional(
            "optional",
            Kind::Flag,
            "Beside `expect`: goes on where the client has sent all. Without it the call fails then, unless a loop without an \
             end is around it, which ends.",
        ),
        Key::optional("collect", Kind::Flag, "Takes requests until the client has sent all.").aka(&["half_close"]),
        Key::optional("send", Kind::Json, "Sends a message: its JSON form, with templates.").aka(&["message", "reply"]),
        Key::optional("headers", Kind::Flag, "Sends the headers now, before there is a message."),
        Key::optional("wait", Kind::Section(&DELAY), "Waits.").aka(&["delay", "sleep"]),
        Key::optional("each", LIST, "Does `do` for each element of this list, which is `item` there.")
            .aka(&["for", "for_each"]),
        Key::optional(
            "if",
            Kind::Text { what: "an expression that is true or false", example: "has(request.error)" },
            "Does `do` if this is true.",
        )
        .aka(&["when"]),
        Key::optional(
            "repeat",
            Kind::NumberOr { min: 0, max: 1_000_000_000, word: "forever" },
            "Does `do` so many times, or `forever`: until the call ends, or an `expect` in it finds that the client has sent \
             all.",
        )
        .aka(&["loop"]),
        Key::optional(
            "do",
            Kind::List { of: &Kind::Section(&STEP), one: true },
            "The steps of `each`, `repeat` and `if`.",
        )
        .aka(&["steps"]),
        Key::optional("fail", Kind::Section(&ERROR), "Ends the call with an error.").aka(&["error"]),
        Key::optional("close", Kind::Flag, "Ends the call with success, whatever the client still sends.")
            .aka(&["end"]),
    ],
)
.groups(&[Group {
    keys: &["expect", "collect", "send", "headers", "wait", "each", "if", "repeat", "fail", "close"],
    required: true,
}]);

/// Appends the steps of a list. `None`: problems were reported.
pub(super) fn compile(steps: &[Open<'_>], target: &Target, names: &Names, program: &mut Builder) -> Option<()> {
    steps.iter().fold(true, |complete, open| complete & step(open, target, names, program).is_some()).then_some(())
}

fn step(open: &Open<'_>, target: &Target, names: &Names, program: &mut Builder) -> Option<()> {
    let (expect, optional) = (open.text("expect"), open.flag("optional"));
    let flags = [
        (open.place_of("collect"), open.flag("collect"), Instruction::Collect),
        (open.place_of("headers"), open.flag("headers"), Instruction::Headers),
        (open.place_of("close"), open.flag("close"), Instruction::Close),
    ];
    let (send, each, repeat) = (open.json("send"), open.text("each"), open.number("repeat"));
    let condition = open.text("if");
    // Sections are opened where they are read, since what is opened must be read; these are asked for in any case.
    let sections = [open.json("wait"), open.json("fail"), open.json("do")];
    let repeats = open.place_of("repeat").is_some();
    if let (Some(node), false) = (sections[2], each.is_some() || repeats || condition.is_some()) {
        let place = open.place_of("do").unwrap_or(node.place);
        open.reader.problem_help(place, "`do` without `each`, `if` or `repeat`", "add one of them beside it");
        return None;
    }
    if optional && expect.is_none() {
        open.reader.problem_help(open.place(), "`optional` without `expect`", "write `expect: any` beside it");
        return None;
    }
    if let Some(text) = expect {
        program.push(Instruction::Expect { that: expectation(open, text, names)?, optional });
    }
    if let Some(node) = send {
        program.push(Instruction::Send(Body::compile(node, target, names, open.reader)?));
    }
    if let Some(delay) = open.section_if("wait") {
        program.wait(Some(Delay::compile(&delay, names)?));
    }
    if let Some(error) = open.section_if("fail") {
        program.push(Instruction::Fail(Error::compile(&error, target, names)?));
    }
    for (place, on, instruction) in flags {
        match (place, on) {
            (Some(_), true) => program.push(instruction),
            (Some(place), false) => {
                open.reader.problem_help(place, "a step that is switched off", "write `true`, or leave the step out");
                return None;
            }
            (None, _) => {}
        }
    }
    if let Some(text) = condition {
        inner(open)?;
        let that = condition_of(open, "if", text, names)?;
        let start = program.next();
        program.push(Instruction::If { that, end: 0 });
        compile(&open.sections("do"), target, names, program)?;
        program.end_if(start);
        return Some(());
    }
    if each.is_some() || repeats {
        return repeated(open, each, repeat, target, names, program);
    }
    Some(())
}

fn repeated(
    open: &Open<'_>,
    each: Option<Text<'_>>,
    repeat: Option<u64>,
    target: &Target,
    names: &Names,
    program: &mut Builder,
) -> Option<()> {
    inner(open)?;
    let start = program.next();
    let names = match each {
        None => {
            program.push(Instruction::Repeat { rounds: repeat.unwrap_or(ROUNDS_MAX), end: 0 });
            names.clone()
        }
        Some(text) => {
            let at = At::new(open.reader, text.place, text.value, false);
            let list = Template::expression(text.value, names, &at)?;
            let names = names.inside(&list.result());
            program.push(Instruction::Each { list, end: 0 });
            names
        }
    };
    compile(&open.sections("do"), target, &names, program)?;
    program.end(start);
    Some(())
}

/// Whether there are steps to do in one.
fn inner(open: &Open<'_>) -> Option<()> {
    if open.place_of("do").is_none() || open.empty_list("do").is_some() {
        open.reader.problem_help(open.place(), "a step with nothing to do", "add `do:` with a list of steps");
        return None;
    }
    Some(())
}

fn expectation(open: &Open<'_>, text: Text<'_>, names: &Names) -> Option<Option<Expression>> {
    if text.value.trim() == "any" {
        return Some(None);
    }
    condition_of(open, "expect", text, names).map(Some)
}

fn condition_of(open: &Open<'_>, key: &str, text: Text<'_>, names: &Names) -> Option<Expression> {
    let at = At::new(open.reader, text.place, text.value, false);
    let expression = Template::expression(text.value, names, &at)?;
    if !expression.yields_bool() {
        let message = format!("`{key}` takes what is true or false");
        open.reader.problem_help(text.place, message, "write a condition, such as `last.amount > 10`");
        return None;
    }
    Some(expression)
}
