//! YAML as a small tree whose every node knows its place. Built from the parser's events rather than through serde, since
//! a reader that stops at its first error cannot list them all.

use std::collections::HashMap;

use granit_parser::{Event, Parser, ScalarStyle, ScanError, Span};

use super::problem::Place;
use super::table::Reader;

/// Longest file, in bytes. A gateway with ten thousand routes stays below.
pub const FILE_BYTES_MAX: usize = 4 * 1024 * 1024;

/// What one file may hold.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Values after aliases are filled in: bounds what a bomb of aliases can do.
    pub nodes_max: usize,
    /// Levels of nesting.
    pub depth_max: usize,
}

impl Bounds {
    /// Of configurations; their format needs eight levels.
    pub const CONFIGURATION: Self = Self { nodes_max: 500_000, depth_max: 32 };
}

/// A value and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Where it starts.
    pub place: Place,
    /// What it is.
    pub value: Value,
}

/// A value. Scalars are not yet numbers or truth values: that depends on the key they belong to.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Nothing, `~` or `null`.
    Null,
    /// A scalar without quotes: it may be meant as a number or a truth value.
    Plain(String),
    /// A scalar in quotes or a block: always text.
    Quoted(String),
    /// A list.
    List(Vec<Node>),
    /// A mapping, in the order of the file; no key stands twice.
    Map(Vec<Pair>),
}

/// A key and its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    /// The key.
    pub key: String,
    /// Where the key starts.
    pub place: Place,
    /// What stands behind it.
    pub value: Node,
}

impl Node {
    /// How many values this is, itself included.
    fn size(&self) -> usize {
        1 + match &self.value {
            Value::List(items) => items.iter().map(Self::size).sum(),
            Value::Map(pairs) => pairs.iter().map(|pair| 1 + pair.value.size()).sum(),
            _ => 0,
        }
    }

    /// Levels below and including this one.
    fn depth(&self) -> usize {
        1 + match &self.value {
            Value::List(items) => items.iter().map(Self::depth).max().unwrap_or(0),
            Value::Map(pairs) => pairs.iter().map(|pair| pair.value.depth()).max().unwrap_or(0),
            _ => 0,
        }
    }
}

/// Reads one document within [`Bounds::CONFIGURATION`]. What is wrong goes to `reader`; `None` if the text is not YAML at
/// all. JSON is YAML.
pub fn read(text: &str, reader: &Reader) -> Option<Node> {
    read_within(text, reader, Bounds::CONFIGURATION)
}

/// Reads one document within these bounds; a bound that is passed is a problem, and there is no document then.
pub fn read_within(text: &str, reader: &Reader, bounds: Bounds) -> Option<Node> {
    let options = granit_parser::options! {
        emit_comments: false,
        disallow_directives: true,
        flow_nesting_limit: bounds.depth_max,
        block_nesting_limit: bounds.depth_max,
    };
    let mut builder =
        Builder { reader, bounds, stack: Vec::new(), anchors: HashMap::new(), nodes: 0, root: None, documents: 0 };
    for next in Parser::new_from_str_with_options(text, options) {
        let step = match next {
            Ok((event, span)) => builder.event(event, &span),
            Err(error) if matches!(error.kind(), granit_parser::ErrorKind::RecursionLimitExceeded) => {
                builder.too_deep(place_at(&error))
            }
            Err(error) => {
                syntax(reader, &error);
                Err(Stop)
            }
        };
        if step.is_err() {
            return None;
        }
    }
    Some(builder.root.unwrap_or(Node { place: Place { line: 1, column: 1 }, value: Value::Null }))
}

/// Reading cannot go on; the reason was reported.
struct Stop;

enum Frame {
    List {
        place: Place,
        anchor: usize,
        items: Vec<Node>,
    },
    Map {
        place: Place,
        anchor: usize,
        pairs: Vec<Pair>,
        /// Keys so far, and where they stand.
        seen: HashMap<String, Place>,
        key: Option<(String, Place)>,
    },
}

struct Builder<'r> {
    reader: &'r Reader,
    bounds: Bounds,
    stack: Vec<Frame>,
    anchors: HashMap<usize, Node>,
    nodes: usize,
    root: Option<Node>,
    documents: usize,
}

impl Builder<'_> {
    fn event(&mut self, event: Event<'_>, span: &Span) -> Result<(), Stop> {
        let place = place_of(span);
        match event {
            Event::DocumentStart(..) => {
                self.documents += 1;
                if self.documents > 1 {
                    return self.stop(place, "a second document starts here", "keep one document in the file");
                }
            }
            Event::Alias(anchor) => {
                let Some(node) = self.anchors.get(&anchor) else {
                    return self.stop(
                        place,
                        "an alias inside of what it stands for",
                        "write the value out instead of the alias",
                    );
                };
                if self.stack.len() + node.depth() > self.bounds.depth_max {
                    return self.too_deep(place);
                }
                let node = node.clone();
                self.count(node.size(), place)?;
                return self.put(node, 0);
            }
            Event::Scalar(text, style, anchor, tag) => {
                self.count(1, place)?;
                if tag.is_some() {
                    self.tag(place);
                }
                let text = text.into_owned();
                let value = match style {
                    ScalarStyle::Plain if matches!(&*text, "" | "~" | "null" | "Null" | "NULL") => Value::Null,
                    ScalarStyle::Plain => Value::Plain(text),
                    _ => Value::Quoted(text),
                };
                return self.put(Node { place, value }, anchor);
            }
            Event::SequenceStart(_, anchor, tag) => {
                self.open(place, tag.is_some())?;
                self.stack.push(Frame::List { place, anchor, items: Vec::new() });
            }
            Event::MappingStart(_, anchor, tag) => {
                self.open(place, tag.is_some())?;
                self.stack.push(Frame::Map { place, anchor, pairs: Vec::new(), seen: HashMap::new(), key: None });
            }
            Event::SequenceEnd | Event::MappingEnd => match self.stack.pop() {
                Some(Frame::List { place, anchor, items }) => {
                    return self.put(Node { place, value: Value::List(items) }, anchor);
                }
                Some(Frame::Map { place, anchor, pairs, .. }) => {
                    return self.put(Node { place, value: Value::Map(pairs) }, anchor);
                }
                None => {}
            },
            _ => {}
        }
        Ok(())
    }

    fn open(&mut self, place: Place, tagged: bool) -> Result<(), Stop> {
        self.count(1, place)?;
        if tagged {
            self.tag(place);
        }
        if let Some(Frame::Map { key: None, .. }) = self.stack.last() {
            return self.stop(place, "a key that is a list or a mapping", "a key is text; quote it if it has brackets");
        }
        if self.stack.len() >= self.bounds.depth_max {
            return self.too_deep(place);
        }
        Ok(())
    }

    /// Puts a complete node where it belongs.
    fn put(&mut self, node: Node, anchor: usize) -> Result<(), Stop> {
        if anchor != 0 {
            self.count(node.size(), node.place)?;
            self.anchors.insert(anchor, node.clone());
        }
        match self.stack.last_mut() {
            None => self.root = Some(node),
            Some(Frame::List { items, .. }) => items.push(node),
            Some(Frame::Map { key: waiting @ None, .. }) => {
                let place = node.place;
                let key = match node.value {
                    Value::Plain(text) | Value::Quoted(text) => text,
                    Value::Null => "null".to_owned(),
                    Value::List(_) | Value::Map(_) => {
                        return self.stop(place, "a key that is a list or a mapping", "a key is text");
                    }
                };
                *waiting = Some((key, place));
            }
            Some(Frame::Map { key, pairs, seen, .. }) => {
                if let Some((key, place)) = key.take() {
                    if key == "<<" {
                        self.reader.problem_help(place, "merge keys (`<<`) are not supported", "write the keys out");
                    } else if let Some(first) = seen.get(&key) {
                        self.reader.problem_help(
                            place,
                            format!("the key `{key}` stands twice"),
                            format!("it stands first at {first}; keep one of them"),
                        );
                    } else {
                        seen.insert(key.clone(), place);
                        pairs.push(Pair { key, place, value: node });
                    }
                }
            }
        }
        Ok(())
    }

    fn count(&mut self, nodes: usize, place: Place) -> Result<(), Stop> {
        self.nodes = self.nodes.saturating_add(nodes);
        if self.nodes <= self.bounds.nodes_max {
            return Ok(());
        }
        self.stop(
            place,
            &format!("more than {} values", self.bounds.nodes_max),
            "make the file smaller, or use fewer aliases",
        )
    }

    fn tag(&self, place: Place) {
        self.reader.problem_help(place, "tags (`!…`) are not supported", "leave the tag out");
    }

    fn too_deep(&self, place: Place) -> Result<(), Stop> {
        self.stop(
            place,
            &format!("more than {} levels of nesting", self.bounds.depth_max),
            "no value of a configuration is that deep",
        )
    }

    fn stop(&self, place: Place, message: &str, help: &str) -> Result<(), Stop> {
        self.reader.problem_help(place, message, help);
        Err(Stop)
    }
}

fn place_of(span: &Span) -> Place {
    Place { line: span.start.line() as u32, column: span.start.col() as u32 + 1 }
}

fn place_at(error: &ScanError) -> Place {
    Place { line: error.marker().line() as u32, column: error.marker().col() as u32 + 1 }
}

fn syntax(reader: &Reader, error: &ScanError) {
    let place = place_at(error);
    let help = match error.kind() {
        granit_parser::ErrorKind::TabNotAllowed | granit_parser::ErrorKind::TabInBlockIndentation => {
            "indent with spaces, not tabs"
        }
        granit_parser::ErrorKind::UnknownAnchor => {
            "define the anchor (`&name`) before the alias (`*name`), or quote a text that starts with `*`"
        }
        granit_parser::ErrorKind::ExpectedFlowMappingSeparator
        | granit_parser::ErrorKind::ExpectedFlowSequenceSeparator => {
            "check commas and brackets; a text with `{`, `[` or `,` in it is quoted inside of brackets"
        }
        granit_parser::ErrorKind::DirectiveDisallowed => "leave the directive (`%…`) out",
        _ => "check indentation, colons, quotes and brackets here and on the line before",
    };
    reader.problem_help(place, format!("this is not YAML: {}", error.kind()), help);
}
