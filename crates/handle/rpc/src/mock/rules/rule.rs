use std::cmp::Reverse;
use std::sync::Arc;

use leat_config::Place;

use super::condition::{self, Condition};

/// A rule for one method. A rule for many methods is as many of these, which share what is said of it.
#[derive(Debug)]
pub struct Rule<R> {
    pub(super) info: Arc<Info>,
    /// How much it is for.
    pub(super) reach: Reach,
    /// From cheap to dear.
    pub(super) conditions: Box<[Condition]>,
    /// Whether one of them asks how often the rule has answered.
    pub(super) uses_calls: bool,
    pub(super) reply: R,
}

/// What is said of a rule, whatever the method.
#[derive(Debug)]
pub struct Info {
    pub(super) number: u32,
    pub(super) name: Arc<str>,
    pub(super) file: Arc<str>,
    pub(super) place: Place,
    pub(super) method: Box<str>,
    pub(super) priority: u32,
    pub(super) head: Head,
    pub(super) sample: Option<serde_json::Value>,
}

/// How much a rule is for, the least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Reach {
    /// `shop.v1.Orders/Get`
    Method,
    /// `shop.v1.Orders/*`
    Service,
    /// `*`
    All,
}

impl Reach {
    /// That of what a rule says of its method.
    pub(super) fn of(method: &str) -> Self {
        match method.strip_suffix('*') {
            None => Self::Method,
            Some("" | "/") => Self::All,
            Some(_) => Self::Service,
        }
    }
}

/// What rules are put in order by: priority, how many conditions and how many exact ones, how much they are for, and the number
/// among all rules.
pub(super) type Rank = (Reverse<u32>, Reverse<(u32, u32)>, Reach, u32);

/// What a rule says besides its conditions and its reply.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Head {
    /// How often it answers in a session; `None` for always.
    pub times: Option<u64>,
    /// Its part in a scenario.
    pub scenario: Option<Scenario>,
}

/// A rule's part in a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scenario {
    /// Which scenario.
    pub name: Arc<str>,
    /// The state that it must be in.
    pub required: Option<Arc<str>>,
    /// The state that it is in afterwards.
    pub to: Option<Arc<str>>,
}

impl Info {
    /// Its place in [`super::Set::rules`]: among all rules, in the order of the files.
    pub fn number(&self) -> usize {
        self.number as usize
    }

    /// Unique among all rules.
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// The file that it stands in.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// Where in the file it starts.
    pub fn place(&self) -> Place {
        self.place
    }

    /// The methods that it is for, as it was written: `shop.v1.Orders/Get`, `shop.v1.Orders/*` or `*`.
    pub fn method(&self) -> &str {
        &self.method
    }

    /// What its author set.
    pub fn priority(&self) -> u32 {
        self.priority
    }

    /// How often it answers, and its part in a scenario.
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// A request that it is for, if it has one: `{"metadata": {…}, "messages": […]}`.
    pub fn sample(&self) -> Option<&serde_json::Value> {
        self.sample.as_ref()
    }
}

impl<R> Rule<R> {
    /// What is said of it, whatever the method.
    pub fn info(&self) -> &Info {
        &self.info
    }

    /// Its number among all rules: [`Info::number`].
    pub fn number(&self) -> usize {
        self.info.number()
    }

    /// Its name.
    pub fn name(&self) -> &Arc<str> {
        &self.info.name
    }

    /// How often it answers, and its part in a scenario.
    pub fn head(&self) -> &Head {
        &self.info.head
    }

    /// Whether its conditions ask how often it has answered: its answers are counted then, if nothing else wants that.
    pub fn uses_calls(&self) -> bool {
        self.uses_calls
    }

    /// What it answers with.
    pub fn reply(&self) -> &R {
        &self.reply
    }

    /// Rules in the order in which they are asked compare as these do.
    pub(super) fn rank(&self) -> Rank {
        let weight = condition::weight(&self.conditions);
        (Reverse(self.info.priority), Reverse(weight), self.reach, self.info.number)
    }
}
