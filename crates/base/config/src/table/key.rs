/// A mapping with known keys.
#[derive(Debug)]
pub struct Section {
    /// The name of its definition in the schema and of its heading in the reference.
    pub name: &'static str,
    /// What a message calls it, with its article: `a listener`.
    pub what: &'static str,
    /// What it is for.
    pub doc: &'static str,
    /// Its keys, in the order of the reference page. At most 64.
    pub keys: &'static [Key],
    /// The key that is meant where something else than a mapping is written.
    pub shorthand: Option<&'static str>,
    /// Which of the keys exclude each other.
    pub groups: &'static [Group],
    /// Whether keys that start with `x-` are ignored: a place for anchors.
    pub extensible: bool,
    /// Whether what stands in its place by mistake may be a secret, which no message shows.
    pub secret: bool,
}

/// Keys that exclude each other.
#[derive(Debug)]
pub struct Group {
    /// Their names.
    pub keys: &'static [&'static str],
    /// Whether one of them must be there.
    pub required: bool,
}

/// A key and what belongs to it.
#[derive(Debug)]
pub struct Key {
    /// As it is written.
    pub name: &'static str,
    /// What its value may be.
    pub kind: Kind,
    /// Whether it must be there.
    pub need: Need,
    /// What it is for.
    pub doc: &'static str,
    /// What people write who come from elsewhere.
    pub aka: &'static [&'static str],
}

/// Whether a key must be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Must be there.
    Required,
    /// May be left out; this is what is meant then, as it would be written.
    Default(&'static str),
    /// May be left out; the meaning of that is in the text.
    Optional,
}

/// What a value may be.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// `true` or `false`.
    Flag,
    /// A whole number in decimal digits.
    Number {
        /// The least, itself allowed.
        min: u64,
        /// The most, itself allowed.
        max: u64,
    },
    /// A number or this word, which reads as `None`.
    NumberOr {
        /// The least, itself allowed.
        min: u64,
        /// The most, itself allowed.
        max: u64,
        /// What may stand in place of a number.
        word: &'static str,
    },
    /// Bytes.
    Size {
        /// The least, itself allowed.
        min: u64,
        /// The most, itself allowed.
        max: u64,
    },
    /// Milliseconds; with `off`, the word `off` reads as `None`.
    Time {
        /// The shortest, itself allowed.
        min_ms: u64,
        /// The longest, itself allowed.
        max_ms: u64,
        /// Whether `off` may stand in its place.
        off: bool,
    },
    /// One of these words, each with its meaning.
    Choice(&'static [(&'static str, &'static str)]),
    /// Text: what it is, with its article, and an example.
    Text {
        /// What it is, with its article.
        what: &'static str,
        /// One that is right.
        example: &'static str,
    },
    /// A list; with `one`, a single value stands for a list of one.
    List {
        /// What its elements are.
        of: &'static Kind,
        /// Whether a single element may stand without the list.
        one: bool,
    },
    /// A mapping with free keys: what they are.
    Map {
        /// What the keys are.
        key: &'static str,
        /// What the values are.
        of: &'static Kind,
    },
    /// A mapping with keys of its own.
    Section(&'static Section),
    /// Anything that JSON can say.
    Json,
    /// Anything that JSON can say; a mapping may have this section's keys, as words of its own.
    JsonOr(&'static Section),
}

impl Section {
    /// A section with these keys and nothing special about it.
    pub const fn new(name: &'static str, what: &'static str, doc: &'static str, keys: &'static [Key]) -> Self {
        Self { name, what, doc, keys, shorthand: None, groups: &[], extensible: false, secret: false }
    }

    /// Lets the value of this key stand for the whole section.
    pub const fn shorthand(mut self, key: &'static str) -> Self {
        self.shorthand = Some(key);
        self
    }

    /// Says which keys exclude each other.
    pub const fn groups(mut self, groups: &'static [Group]) -> Self {
        self.groups = groups;
        self
    }

    /// Lets keys that start with `x-` pass.
    pub const fn extensible(mut self) -> Self {
        self.extensible = true;
        self
    }

    /// Keeps what stands in its place by mistake out of messages: it may be the secret that the section says where to find.
    pub const fn secret(mut self) -> Self {
        self.secret = true;
        self
    }

    /// The key of this name and its number in the table.
    pub fn key(&self, name: &str) -> Option<(usize, &'static Key)> {
        self.keys.iter().enumerate().find(|(_, key)| key.name == name)
    }
}

impl Key {
    /// A key that must be there.
    pub const fn required(name: &'static str, kind: Kind, doc: &'static str) -> Self {
        Self { name, kind, need: Need::Required, doc, aka: &[] }
    }

    /// A key that may be left out; its text says what that means.
    pub const fn optional(name: &'static str, kind: Kind, doc: &'static str) -> Self {
        Self { name, kind, need: Need::Optional, doc, aka: &[] }
    }

    /// A key that may be left out; `default` is what is meant then, as it would be written.
    pub const fn default(name: &'static str, kind: Kind, default: &'static str, doc: &'static str) -> Self {
        Self { name, kind, need: Need::Default(default), doc, aka: &[] }
    }

    /// Names under which people look for this key: a message about one of them offers the right one.
    pub const fn aka(mut self, names: &'static [&'static str]) -> Self {
        self.aka = names;
        self
    }
}

impl Kind {
    /// What a message says is expected.
    pub fn expected(&self) -> String {
        match self {
            Self::Flag => "`true` or `false`".to_owned(),
            Self::Number { min, max } => format!("a number from {min} to {max}"),
            Self::NumberOr { min, max, word } => format!("a number from {min} to {max}, or `{word}`"),
            Self::Size { .. } => "a size such as `32KiB` or `1MB`".to_owned(),
            Self::Time { off: false, .. } => "a time such as `250ms`, `60s` or `5m`".to_owned(),
            Self::Time { off: true, .. } => "a time such as `250ms`, `60s` or `5m`, or `off`".to_owned(),
            Self::Choice(words) => {
                let words: Vec<String> = words.iter().map(|(word, _)| format!("`{word}`")).collect();
                match words.split_last() {
                    Some((last, [])) => last.clone(),
                    Some((last, others)) => format!("{} or {last}", others.join(", ")),
                    None => String::new(),
                }
            }
            Self::Text { what, .. } => (*what).to_owned(),
            Self::List { of, one: true } => format!("{}, or a list", of.expected()),
            Self::List { .. } => "a list".to_owned(),
            Self::Map { key, .. } => format!("a mapping from {key}"),
            Self::Section(section) => section.what.to_owned(),
            Self::Json => "a JSON value".to_owned(),
            Self::JsonOr(section) => format!("a JSON value, or {}", section.what),
        }
    }
}
