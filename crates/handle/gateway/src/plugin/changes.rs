use leat_message::{Field, Fields, Name, Span};

use super::Patch;

/// A list of fields with a patch applied: a field that is set stands where the first of its name stood, one that is new behind all
/// others, and what is not named keeps its place and its spelling. Its memory is used again.
#[derive(Debug, Default)]
pub(super) struct Changed {
    pub(super) bytes: Vec<u8>,
    pub(super) list: Vec<Field>,
}

impl Changed {
    /// Forgets all fields; keeps the memory.
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.list.clear();
    }

    pub(super) fn fields(&self) -> Fields<'_> {
        Fields::new(&self.bytes, &self.list)
    }

    /// Puts bytes to the others; they are no field.
    pub(super) fn put(&mut self, text: &[u8]) -> Span {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(text);
        Span::new(start, self.bytes.len())
    }

    pub(super) fn push(&mut self, id: Name, name: &[u8], value: &[u8]) {
        let (name, value) = (self.put(name), self.put(value));
        self.list.push(Field { id, name, value });
    }

    /// Takes the fields of a message over, changed. Fields that `leave_out` says are left out.
    pub(super) fn take(&mut self, fields: Fields<'_>, patch: &impl Patch, leave_out: impl Fn(Name) -> bool) {
        for (id, name, value) in fields {
            if leave_out(id) {
                continue;
            }
            let mut edits = patch.edits().filter(|(edited, _)| edited.eq_ignore_ascii_case(name)).peekable();
            if edits.peek().is_none() {
                self.push(id, name, value);
            } else if !self.has(id, name) {
                // In the spelling that the message has.
                edits.filter_map(|(_, value)| value).for_each(|value| self.push(id, name, value));
            }
        }
        for (name, value) in patch.edits() {
            let Some(value) = value else { continue };
            let id = Name::from_bytes(name);
            if fields.get_named(name).is_none() && !leave_out(id) {
                self.push(id, name, value);
            }
        }
    }

    fn has(&self, id: Name, name: &[u8]) -> bool {
        self.list.iter().any(|field| field.id == id && field.name.of(&self.bytes).eq_ignore_ascii_case(name))
    }
}

/// Whether the content-coding of a message is gone: a plug-in has put a text in its body's place, and says nothing of a coding.
pub(super) fn takes_coding(patch: &impl Patch) -> bool {
    let says = |name: &[u8]| Name::from_bytes(name) == Name::ContentEncoding;
    patch.body().is_some() && patch.is_text() && !patch.edits().any(|(name, _)| says(name))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    #[derive(Clone, Copy)]
    pub(crate) struct Edits(pub(crate) &'static [(&'static str, Option<&'static str>)]);

    /// The fields of a message.
    pub(crate) const LINES: &[&str] =
        &["Host: a", "X-One: 1", "Cookie: c", "x-many: x", "X-Many: y", "content-length: 3"];
    type Case = (&'static [(&'static str, Option<&'static str>)], &'static str);
    /// What edits make of them, up to the last.
    pub(crate) const CASES: &[Case] = &[
        (&[], "Host: a|X-One: 1|Cookie: c|x-many: x|X-Many: y"),
        (&[("x-one", Some("2"))], "Host: a|X-One: 2|Cookie: c|x-many: x|X-Many: y"),
        (&[("x-many", None)], "Host: a|X-One: 1|Cookie: c"),
        (&[("x-many", Some("z"))], "Host: a|X-One: 1|Cookie: c|x-many: z"),
        (
            &[("x-one", Some("2")), ("x-one", Some("3")), ("cookie", None)],
            "Host: a|X-One: 2|X-One: 3|x-many: x|X-Many: y",
        ),
        (
            &[("x-new", Some("n")), ("x-new", Some("m")), ("x-none", None)],
            "Host: a|X-One: 1|Cookie: c|x-many: x|X-Many: y|x-new: n|x-new: m",
        ),
    ];

    impl Patch for Edits {
        fn method(&self) -> Option<&[u8]> {
            None
        }
        fn target(&self) -> Option<&[u8]> {
            None
        }
        fn upstream(&self) -> Option<&[u8]> {
            None
        }
        fn status(&self) -> Option<u16> {
            None
        }
        fn body(&self) -> Option<&[u8]> {
            None
        }
        fn is_text(&self) -> bool {
            false
        }
        fn edits(&self) -> impl Iterator<Item = (&[u8], Option<&[u8]>)> {
            self.0.iter().map(|(name, value)| (name.as_bytes(), value.map(str::as_bytes)))
        }
    }

    #[test]
    fn fields_keep_their_places_and_spelling() {
        for (edits, wanted) in CASES {
            let mut fields = Changed::default();
            for line in LINES {
                let (name, value) = line.split_once(": ").unwrap();
                fields.push(Name::from_bytes(name.as_bytes()), name.as_bytes(), value.as_bytes());
            }
            let mut changed = Changed::default();
            changed.take(fields.fields(), &Edits(edits), |id| id == Name::ContentLength);
            let lines: Vec<String> = changed
                .fields()
                .iter()
                .map(|(_, name, value)| {
                    format!("{}: {}", String::from_utf8_lossy(name), String::from_utf8_lossy(value))
                })
                .collect();
            assert_eq!(lines.join("|"), *wanted, "{edits:?}");
        }
    }
}
