use std::cell::Cell;

use super::key::Need;
use super::{Key, Kind, Reader, Section, nearest, units};
use crate::problem::Place;
use crate::yaml::{Node, Pair, Value};

/// Characters of a wrong value that a message shows.
const SHOWN_MAX: usize = 60;

/// A section that is being read. Problems go to the reader, and every accessor answers with something usable, so that
/// one mistake does not hide the next.
///
/// Every key of the section's table must be asked for: in debug builds dropping it otherwise panics, which is how the
/// tests know that no key is published that nobody reads.
pub struct Open<'n> {
    /// Takes what is wrong.
    pub reader: &'n Reader,
    section: &'static Section,
    /// Where the section starts; its parent's place if it is not in the file.
    place: Place,
    present: bool,
    entries: Vec<(&'static Key, Place, &'n Node)>,
    asked: Cell<u64>,
}

/// Text and where it stands.
#[derive(Clone, Copy, Debug)]
pub struct Text<'n> {
    /// The text.
    pub value: &'n str,
    /// Where it starts.
    pub place: Place,
}

impl<'n> Open<'n> {
    /// Opens a section; reports keys that are unknown, missing, or exclude each other.
    pub fn new(reader: &'n Reader, section: &'static Section, node: &'n Node) -> Self {
        let mut open =
            Self { reader, section, place: node.place, present: true, entries: Vec::new(), asked: Cell::new(0) };
        let mut complete = true;
        match (&node.value, section.shorthand.and_then(|name| section.key(name))) {
            (Value::Map(pairs), _) => pairs.iter().for_each(|pair| open.entry(pair)),
            (Value::Null, None) => {}
            (Value::Null, Some(_)) | (_, None) => {
                complete = false;
                let found = if section.secret { kept_back(node) } else { show(node) };
                reader.problem_help(
                    node.place,
                    format!("expected {}, found {found}", section.what),
                    format!("it has the keys {}", names(section)),
                );
            }
            (_, Some((_, key))) => open.entries.push((key, node.place, node)),
        }
        if complete {
            open.check();
        }
        open
    }

    /// A section that is not in the file: everything has its default.
    fn absent(reader: &'n Reader, section: &'static Section, place: Place) -> Self {
        Self { reader, section, place, present: false, entries: Vec::new(), asked: Cell::new(0) }
    }

    fn entry(&mut self, pair: &'n Pair) {
        if let Some((_, key)) = self.section.key(&pair.key) {
            self.entries.push((key, pair.place, &pair.value));
            return;
        }
        if self.section.extensible && pair.key.starts_with("x-") {
            return;
        }
        let known = self.section.keys.iter().map(|key| key.name);
        let alias = self.section.keys.iter().find(|key| key.aka.contains(&pair.key.as_str())).map(|key| key.name);
        let help = match alias.or_else(|| nearest(&pair.key, known)) {
            Some(name) => format!("write `{name}`"),
            None => format!("the keys here are {}", names(self.section)),
        };
        let message = format!("unknown key `{}` in {}", shorten(&pair.key), self.section.what);
        self.reader.problem_help(pair.place, message, help);
    }

    fn check(&self) {
        for key in self.section.keys.iter().filter(|key| key.need == Need::Required) {
            if self.find(key.name).is_none() {
                self.reader.problem_help(
                    self.place,
                    format!("`{}` is missing in {}", key.name, self.section.what),
                    format!("add `{}: {}`", key.name, example(&key.kind)),
                );
            }
        }
        for group in self.section.groups {
            let mut there = group.keys.iter().filter_map(|name| self.find(name));
            match (there.next(), there.next()) {
                (Some((first, ..)), Some((second, place, _))) => self.reader.problem_help(
                    place,
                    format!("`{}` beside `{}` in {}", second.name, first.name, self.section.what),
                    "keep one of them",
                ),
                (None, _) if group.required => self.reader.problem_help(
                    self.place,
                    format!("{} needs one of {}", self.section.what, quoted(group.keys.iter().copied())),
                    format!("add one of them, such as `{}`", self.example_of(group.keys)),
                ),
                _ => {}
            }
        }
    }

    fn example_of(&self, keys: &[&str]) -> String {
        let key = keys.first().and_then(|name| self.section.key(name));
        key.map_or(String::new(), |(_, key)| format!("{}: {}", key.name, example(&key.kind)))
    }

    fn find(&self, name: &str) -> Option<(&'static Key, Place, &'n Node)> {
        self.entries.iter().find(|(key, ..)| key.name == name).copied()
    }

    /// Where the section stands.
    pub fn place(&self) -> Place {
        self.place
    }

    /// Whether the file has this section.
    pub fn is_present(&self) -> bool {
        self.present
    }

    /// Where the key stands, if it does.
    pub fn place_of(&self, name: &str) -> Option<Place> {
        self.find(name).map(|(_, place, _)| place)
    }

    /// Where a list stands that has no element: `[]`, or nothing behind the colon, as where all elements are commented out.
    pub fn empty_list(&self, name: &str) -> Option<Place> {
        let is_empty = |node: &Node| node.value == Value::Null || node.value == Value::List(Vec::new());
        self.find(name).filter(|(_, _, node)| is_empty(node)).map(|(_, place, _)| place)
    }

    /// Whether the key stands there with nothing behind its colon.
    pub fn is_left_empty(&self, name: &str) -> bool {
        self.find(name).is_some_and(|(_, _, node)| node.value == Value::Null)
    }

    /// The table's entry and the node, and notes that the key was asked for.
    fn ask(&self, name: &str) -> Option<(&'static Key, Option<&'n Node>)> {
        let found = self.section.key(name);
        debug_assert!(found.is_some(), "`{name}` is not in the table of {}", self.section.what);
        let (number, key) = found?;
        self.asked.set(self.asked.get() | 1 << number);
        Some((key, self.find(name).map(|(_, _, node)| node)))
    }

    /// Reads the node of a key, else its default.
    fn scalar<T>(&self, name: &str, read: impl Fn(&Kind, &str) -> Result<T, Wrong>) -> Option<T> {
        let (key, node) = self.ask(name)?;
        if let Some(node) = node {
            match plain(node).map_or(Err(Wrong::Kind), |text| read(&key.kind, text)) {
                Ok(value) => return Some(value),
                Err(wrong) => self.wrong(key, node, wrong),
            }
        }
        let Need::Default(default) = key.need else { return None };
        let value = read(&key.kind, default).ok();
        debug_assert!(value.is_some(), "the default of `{name}` in {} cannot be read", self.section.what);
        value
    }

    fn wrong(&self, key: &Key, node: &Node, wrong: Wrong) {
        // What stands in place of a mapping may be what its values would be.
        let may_be_secret = self.section.secret && matches!(key.kind, Kind::Map { .. });
        let found = if may_be_secret { kept_back(node) } else { show(node) };
        match wrong {
            Wrong::Kind => {
                let message = format!("`{}` must be {}, found {found}", key.name, key.kind.expected());
                match hint(&key.kind, node) {
                    Some(help) => self.reader.problem_help(node.place, message, help),
                    None => self.reader.problem_help(
                        node.place,
                        message,
                        format!("write for example `{}: {}`", key.name, example(&key.kind)),
                    ),
                }
            }
            Wrong::Range { min, max } => self.reader.problem_help(
                node.place,
                format!("`{}` must be from {min} to {max}, found {found}", key.name),
                "write a value in that range",
            ),
        }
    }

    /// `true` or `false`; without either, `false`.
    pub fn flag(&self, name: &str) -> bool {
        let read = |_: &Kind, text: &str| match text {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err(Wrong::Kind),
        };
        self.scalar(name, read).unwrap_or_default()
    }

    /// `None` for the word of a `NumberOr`, and where there is neither value nor default.
    pub fn number(&self, name: &str) -> Option<u64> {
        let read = |kind: &Kind, text: &str| match kind {
            Kind::NumberOr { word, .. } if text == *word => Ok(None),
            Kind::NumberOr { min, max, .. } | Kind::Number { min, max } => {
                let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
                match text.parse() {
                    Ok(number) if digits && (*min..=*max).contains(&number) => Ok(Some(number)),
                    _ if digits => Err(Wrong::Range { min: min.to_string(), max: max.to_string() }),
                    _ => Err(Wrong::Kind),
                }
            }
            _ => Err(Wrong::Kind),
        };
        self.scalar(name, read).flatten()
    }

    /// Bytes.
    pub fn size(&self, name: &str) -> u64 {
        let read = |kind: &Kind, text: &str| match kind {
            Kind::Size { min, max } => match units::size(text) {
                Some(bytes) if (*min..=*max).contains(&bytes) => Ok(bytes),
                Some(_) => Err(Wrong::Range { min: units::show_size(*min), max: units::show_size(*max) }),
                None => Err(Wrong::Kind),
            },
            _ => Err(Wrong::Kind),
        };
        self.scalar(name, read).unwrap_or_default()
    }

    /// Milliseconds; `None` for `off`.
    pub fn time(&self, name: &str) -> Option<u64> {
        let read = |kind: &Kind, text: &str| match kind {
            Kind::Time { off: true, .. } if text == "off" => Ok(None),
            Kind::Time { min_ms, max_ms, .. } => match units::time_ms(text) {
                Some(ms) if (*min_ms..=*max_ms).contains(&ms) => Ok(Some(ms)),
                Some(_) => Err(Wrong::Range { min: units::show_time(*min_ms), max: units::show_time(*max_ms) }),
                None => Err(Wrong::Kind),
            },
            _ => Err(Wrong::Kind),
        };
        self.scalar(name, read).flatten()
    }

    /// The value that the word stands for; `options` lists the words of the table in its order.
    pub fn choice<T: Copy>(&self, name: &str, options: &[(&str, T)]) -> Option<T> {
        let read = |kind: &Kind, text: &str| {
            let words = if let Kind::Choice(words) = kind { *words } else { &[] };
            debug_assert!(
                words.iter().map(|(word, _)| *word).eq(options.iter().map(|(word, _)| *word)),
                "`{name}` in {} has other words in its table",
                self.section.what
            );
            options.iter().find(|(word, _)| *word == text).map(|(_, value)| *value).ok_or(Wrong::Kind)
        };
        self.scalar(name, read)
    }

    /// The text of a key, or its default.
    pub fn text(&self, name: &str) -> Option<Text<'n>> {
        let (key, node) = self.ask(name)?;
        if let Some(node) = node {
            let text = text_of(node);
            if text.is_none() {
                self.wrong(key, node, Wrong::Kind);
            }
            return text;
        }
        match key.need {
            Need::Default(value) => Some(Text { value, place: self.place }),
            _ => None,
        }
    }

    /// The values of a list of texts; with their default.
    pub fn texts(&self, name: &str) -> Vec<Text<'n>> {
        let Some((key, node)) = self.ask(name) else { return Vec::new() };
        match (node, key.need) {
            (Some(node), _) => self.texts_in(key.name, &key.kind, node),
            (None, Need::Default(words)) => {
                let words = words.trim_matches(['[', ']']).split(", ").filter(|word| !word.is_empty());
                words.map(|value| Text { value, place: self.place }).collect()
            }
            _ => Vec::new(),
        }
    }

    fn texts_in(&self, name: &str, kind: &Kind, node: &'n Node) -> Vec<Text<'n>> {
        let element = |node: &'n Node| {
            let text = text_of(node);
            if text.is_none() {
                let expected = if let Kind::List { of, .. } = kind { of.expected() } else { kind.expected() };
                let message = format!("`{name}` takes {expected}, found {}", show(node));
                self.reader.problem_help(node.place, message, format!("write for example `{}`", example(kind)));
            }
            text
        };
        self.nodes_in(name, kind, node).into_iter().filter_map(element).collect()
    }

    /// The elements of a list, one value standing for a list of one where that is allowed.
    fn nodes_in(&self, name: &str, kind: &Kind, node: &'n Node) -> Vec<&'n Node> {
        match (&node.value, kind) {
            (Value::List(items), Kind::List { .. }) => items.iter().collect(),
            (Value::Null, _) => Vec::new(),
            (_, Kind::List { one: true, .. }) => vec![node],
            (_, Kind::List { of, .. }) => {
                self.reader.problem_help(
                    node.place,
                    format!("`{name}` must be a list, found {}", show(node)),
                    format!("write `{name}: [{}]`, or put `- ` before each element", example(of)),
                );
                Vec::new()
            }
            _ => vec![node],
        }
    }

    /// Opens every section of a list.
    pub fn sections(&self, name: &str) -> Vec<Open<'n>> {
        let Some((key, Some(node))) = self.ask(name) else { return Vec::new() };
        let Kind::List { of: Kind::Section(section), .. } = key.kind else { return Vec::new() };
        self.nodes_in(name, &key.kind, node).into_iter().map(|node| Open::new(self.reader, section, node)).collect()
    }

    /// Opens a section; with all its defaults if it is not in the file.
    pub fn section(&self, name: &str) -> Open<'n> {
        match self.ask(name) {
            Some((Key { kind: Kind::Section(section), .. }, Some(node))) => Open::new(self.reader, section, node),
            Some((Key { kind: Kind::Section(section), .. }, None)) => Open::absent(self.reader, section, self.place),
            _ => Open::absent(self.reader, self.section, self.place),
        }
    }

    /// Opens a section only if it is in the file.
    pub fn section_if(&self, name: &str) -> Option<Open<'n>> {
        match self.ask(name) {
            Some((Key { kind: Kind::Section(section), .. }, Some(node))) => Some(Open::new(self.reader, section, node)),
            _ => None,
        }
    }

    /// The pairs of a mapping with free keys.
    pub fn pairs(&self, name: &str) -> &'n [Pair] {
        let Some((key, Some(node))) = self.ask(name) else { return &[] };
        match &node.value {
            Value::Map(pairs) => pairs,
            Value::Null => &[],
            _ => {
                self.wrong(key, node, Wrong::Kind);
                &[]
            }
        }
    }

    /// Opens every section of a mapping with free keys.
    pub fn section_pairs(&self, name: &str) -> Vec<(&'n Pair, Open<'n>)> {
        let Some((_, Key { kind: Kind::Map { of: Kind::Section(section), .. }, .. })) = self.section.key(name) else {
            return Vec::new();
        };
        let open = |pair: &'n Pair| (pair, Open::new(self.reader, section, &pair.value));
        self.pairs(name).iter().map(open).collect()
    }

    /// Every pair of a mapping from free keys to texts, or to lists of them.
    pub fn text_pairs(&self, name: &str) -> Vec<(&'n Pair, Vec<Text<'n>>)> {
        let Some((_, Key { kind: Kind::Map { of, .. }, .. })) = self.section.key(name) else { return Vec::new() };
        self.pairs(name).iter().map(|pair| (pair, self.texts_in(&pair.key, of, &pair.value))).collect()
    }

    /// The node of a key that may hold anything.
    pub fn json(&self, name: &str) -> Option<&'n Node> {
        self.ask(name).and_then(|(_, node)| node)
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        if cfg!(debug_assertions) && !std::thread::panicking() {
            for (number, key) in self.section.keys.iter().enumerate() {
                debug_assert!(
                    self.asked.get() >> number & 1 == 1,
                    "nobody reads `{}` in {}",
                    key.name,
                    self.section.what
                );
            }
        }
    }
}

enum Wrong {
    Kind,
    Range { min: String, max: String },
}

fn plain(node: &Node) -> Option<&str> {
    match &node.value {
        Value::Plain(text) | Value::Quoted(text) => Some(text),
        _ => None,
    }
}

/// The text of a scalar; `None` for everything else.
pub fn text_of(node: &Node) -> Option<Text<'_>> {
    plain(node).map(|value| Text { value, place: node.place })
}

/// What a wrong value probably was meant to be.
fn hint(kind: &Kind, node: &Node) -> Option<String> {
    let text = plain(node)?;
    match kind {
        Kind::Flag => match text.to_ascii_lowercase().as_str() {
            "yes" | "on" | "1" | "true" => Some("write `true`".to_owned()),
            "no" | "off" | "0" | "false" => Some("write `false`".to_owned()),
            _ => None,
        },
        Kind::Time { .. } => units::meant_time(text),
        Kind::Size { .. } => units::meant_size(text),
        Kind::Choice(words) => nearest(text, words.iter().map(|(word, _)| *word)).map(|word| format!("write `{word}`")),
        Kind::NumberOr { word, .. } => nearest(text, [*word]).map(|word| format!("write `{word}`")),
        _ => None,
    }
}

/// A value as messages show it: on one line, cut where it gets long.
pub fn show(node: &Node) -> String {
    match &node.value {
        Value::Null => "nothing".to_owned(),
        Value::Plain(text) | Value::Quoted(text) => format!("`{}`", shorten(text)),
        Value::List(_) => "a list".to_owned(),
        Value::Map(_) => "a mapping".to_owned(),
    }
}

/// The same where it may be a secret.
fn kept_back(node: &Node) -> String {
    match &node.value {
        Value::Plain(_) | Value::Quoted(_) => "a text that is not shown".to_owned(),
        _ => show(node),
    }
}

/// Text on one line, cut where it gets long.
pub fn shorten(text: &str) -> String {
    let mut shown: String = text.chars().take(SHOWN_MAX).flat_map(char::escape_debug).collect();
    if text.chars().count() > SHOWN_MAX {
        shown.push('…');
    }
    shown.replace("\\'", "'").replace("\\\"", "\"")
}

/// What could stand there, for a message that says what to write.
pub fn example(kind: &Kind) -> String {
    match kind {
        Kind::Flag => "true".to_owned(),
        Kind::Number { min, .. } | Kind::NumberOr { min, .. } => min.to_string(),
        Kind::Size { min, .. } => units::show_size((*min).max(64 * 1024)),
        Kind::Time { .. } => "60s".to_owned(),
        Kind::Choice(words) => words.first().map_or(String::new(), |(word, _)| (*word).to_owned()),
        Kind::Text { example, .. } => (*example).to_owned(),
        Kind::List { of, one: true } => example(of),
        Kind::List { of, .. } => format!("[{}]", example(of)),
        Kind::Map { of, .. } => format!("{{name: {}}}", example(of)),
        Kind::Section(section) => example_section(section),
        Kind::Json | Kind::JsonOr(_) => "{}".to_owned(),
    }
}

/// The shorthand if there is one, else the keys that must be there.
fn example_section(section: &Section) -> String {
    if let Some((_, key)) = section.shorthand.and_then(|name| section.key(name)) {
        return example(&key.kind);
    }
    let one_of = section.groups.iter().find(|group| group.required).and_then(|group| group.keys.first());
    let needed = section.keys.iter().filter(|key| key.need == Need::Required || one_of == Some(&key.name));
    let keys: Vec<String> = needed.map(|key| format!("{}: {}", key.name, example(&key.kind))).collect();
    if keys.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", keys.join(", ")) }
}

fn names(section: &Section) -> String {
    quoted(section.keys.iter().map(|key| key.name))
}

/// Words for a message: each in backquotes, with commas.
pub fn quoted<'w>(words: impl IntoIterator<Item = &'w str>) -> String {
    words.into_iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}
