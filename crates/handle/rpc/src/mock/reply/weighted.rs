//! Which of several replies a call gets.

use leat_config::table::{Key, Kind, Open, Section};
use leat_config::yaml::Value as Yaml;

use super::body::Known;
use super::compile::{self, REPLY};
use super::single::Reply;
use super::target::Target;
use crate::mock::state::Draws;

/// Levels of choices in choices.
const DEPTH_MAX: usize = 8;

pub(super) static WEIGHTED: Section = Section::new(
    "weighted_reply",
    "a weighted reply",
    "A reply and how often it comes.",
    &[
        Key::default(
            "weight",
            Kind::Number { min: 0, max: 1_000_000 },
            "1",
            "Its share: of two replies with the weights 1 and 3, the second comes three times as often.",
        ),
        Key::required("reply", Kind::Section(&REPLY), "The reply."),
    ],
);

/// What a rule answers.
#[derive(Debug)]
pub struct Replies {
    root: Choice,
    counts: bool,
}

#[derive(Debug)]
enum Choice {
    One(Box<Reply>),
    Weighted(Several<(u32, Choice)>),
    Sequence(Several<Choice>, Then),
}

/// A list that is not empty.
#[derive(Debug)]
struct Several<T> {
    first: Box<T>,
    others: Vec<T>,
}

impl<T> Several<T> {
    fn new(mut all: Vec<T>) -> Option<Self> {
        if all.is_empty() {
            return None;
        }
        let first = Box::new(all.remove(0));
        Some(Self { first, others: all })
    }

    fn len(&self) -> u64 {
        self.others.len() as u64 + 1
    }

    /// The one at `index`, else the first.
    fn get(&self, index: u64) -> &T {
        let other = index.checked_sub(1).and_then(|index| self.others.get(usize::try_from(index).ok()?));
        other.unwrap_or(&self.first)
    }

    fn iter(&self) -> impl Iterator<Item = &T> + Clone {
        std::iter::once(&*self.first).chain(&self.others)
    }
}

impl Several<(u32, Choice)> {
    fn weighted(&self, draws: &mut Draws) -> &Choice {
        let chosen = draws.weighted(self.iter().map(|(weight, _)| *weight));
        &self.get(chosen as u64).1
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Then {
    RepeatLast,
    Loop,
    None,
}

impl Replies {
    /// Reads what stands at `reply`, a section of [`REPLY`]. `None`: problems went to the reader.
    pub fn compile(open: &Open<'_>, target: &Target) -> Option<Self> {
        let root = choice(open, target, DEPTH_MAX)?;
        let counts = root.counts();
        Some(Self { root, counts })
    }

    /// Whether calls must be counted: some reply depends on the call's number or on random numbers, which follow from it.
    pub fn counts(&self) -> bool {
        self.counts
    }

    /// How many calls get a reply, where a sequence ends with `then: none`.
    pub fn calls_max(&self) -> Option<u64> {
        match &self.root {
            Choice::Sequence(all, Then::None) => Some(all.len()),
            _ => None,
        }
    }

    /// The reply of a call, whose number counts from 1.
    pub fn pick(&self, call: u64, draws: &mut Draws) -> &Reply {
        let mut choice = &self.root;
        // How often this choice was made before.
        let mut before = call.saturating_sub(1);
        loop {
            choice = match choice {
                Choice::One(reply) => return reply,
                Choice::Weighted(all) => all.weighted(draws),
                Choice::Sequence(all, then) => {
                    let length = all.len();
                    let turn = match then {
                        Then::Loop => before % length,
                        Then::RepeatLast | Then::None => before.min(length - 1),
                    };
                    // A choice in a sequence goes on when its own turn comes again.
                    before = if *then == Then::Loop { before / length } else { before - turn };
                    all.get(turn)
                }
            }
        }
    }

    /// All replies, in the order of the file.
    pub fn all(&self) -> Vec<&Reply> {
        let mut found = Vec::new();
        self.root.collect(&mut found);
        found
    }

    /// What is known of the messages when rules are loaded, and can be validated then.
    pub fn known_messages(&self) -> impl Iterator<Item = Known<'_>> {
        self.all().into_iter().flat_map(Reply::known_messages)
    }
}

impl Choice {
    fn counts(&self) -> bool {
        match self {
            Self::One(reply) => reply.counts(),
            Self::Weighted(_) | Self::Sequence(..) => true,
        }
    }

    fn collect<'c>(&'c self, found: &mut Vec<&'c Reply>) {
        match self {
            Self::One(reply) => found.push(reply),
            Self::Weighted(all) => all.iter().for_each(|(_, choice)| choice.collect(found)),
            Self::Sequence(all, _) => all.iter().for_each(|choice| choice.collect(found)),
        }
    }
}

fn choice(open: &Open<'_>, target: &Target, depth: usize) -> Option<Choice> {
    let then = [("repeat_last", Then::RepeatLast), ("loop", Then::Loop), ("none", Then::None)];
    let then_at = open.place_of("then");
    let then = open.choice("then", &then).unwrap_or(Then::RepeatLast);
    let (weighted_at, sequence_at) = (open.place_of("weighted"), open.place_of("sequence"));
    let nodes = [open.json("weighted"), open.json("sequence")];
    let Some(place) = weighted_at.or(sequence_at) else {
        if let Some(place) = then_at {
            open.reader.problem_help(place, "`then` without `sequence`", "leave it out");
        }
        return compile::reply(open, target).map(|reply| Choice::One(Box::new(reply)));
    };
    beside(open)?;
    if depth == 0 {
        open.reader.problem_help(place, format!("more than {DEPTH_MAX} choices in one another"), "make it flatter");
        return None;
    }
    if nodes.iter().flatten().all(|node| matches!(&node.value, Yaml::Null) || node.value == Yaml::List(Vec::new())) {
        open.reader.problem_help(place, "an empty list of replies", "add a reply");
        return None;
    }
    if sequence_at.is_some() {
        let sequence = open.sections("sequence");
        let all: Vec<Option<Choice>> = sequence.iter().map(|open| choice(open, target, depth - 1)).collect();
        return Some(Choice::Sequence(Several::new(all.into_iter().collect::<Option<_>>()?)?, then));
    }
    let weighted = open.sections("weighted");
    let one = |open: &Open<'_>| {
        let weight = open.number("weight").and_then(|weight| u32::try_from(weight).ok()).unwrap_or(1);
        Some((weight, choice(&open.section("reply"), target, depth - 1)?))
    };
    let all: Vec<Option<(u32, Choice)>> = weighted.iter().map(one).collect();
    let all: Vec<(u32, Choice)> = all.into_iter().collect::<Option<_>>()?;
    if all.iter().all(|(weight, _)| *weight == 0) {
        open.reader.problem_help(place, "all weights are 0", "give one of them a weight");
        return None;
    }
    Some(Choice::Weighted(Several::new(all)?))
}

/// Keys that say nothing beside a choice of replies.
fn beside(open: &Open<'_>) -> Option<()> {
    let mut complete = true;
    for name in
        ["message", "stream", "script", "error", "headers", "trailers", "delay", "loop", "order", "templates", "fault"]
    {
        if open.json(name).is_some()
            && let Some(place) = open.place_of(name)
        {
            let help = "write it into each of the replies";
            open.reader.problem_help(place, format!("`{name}` beside several replies"), help);
            complete = false;
        }
    }
    complete.then_some(())
}
