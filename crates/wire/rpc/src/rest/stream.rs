/// How the messages of a server's stream stand in one body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamForm {
    /// `[…,…]`: what Google's transcoders send.
    Array,
    /// One on a line (`application/x-ndjson`).
    Lines,
    /// Server-sent events: one in a `data` line of each.
    Events,
}

impl StreamForm {
    /// What the client asks for by `Accept`; an array unless it names another form.
    pub fn of_accept<'a>(values: impl Iterator<Item = &'a [u8]>) -> Self {
        let ranges = values.flat_map(|value| value.split(|&byte| byte == b','));
        for range in ranges {
            let essence = range.split(|&byte| byte == b';').next().unwrap_or_default().trim_ascii();
            let is = |name: &str| essence.eq_ignore_ascii_case(name.as_bytes());
            if is("text/event-stream") {
                return Self::Events;
            }
            if is("application/x-ndjson") || is("application/jsonl") || is("application/ndjson") {
                return Self::Lines;
            }
            if is("application/json") {
                return Self::Array;
            }
        }
        Self::Array
    }

    /// The body's type.
    pub const fn content_type(self) -> &'static str {
        match self {
            Self::Array => "application/json",
            Self::Lines => "application/x-ndjson",
            Self::Events => "text/event-stream",
        }
    }

    /// Appends a message in JSON, which has no line ends of its own. `is_first` for the first one.
    pub fn message(self, json: &[u8], is_first: bool, out: &mut Vec<u8>) {
        match self {
            Self::Array => {
                out.push(if is_first { b'[' } else { b',' });
                out.extend_from_slice(json);
            }
            Self::Lines => {
                out.extend_from_slice(json);
                out.push(b'\n');
            }
            Self::Events => {
                out.extend_from_slice(b"data: ");
                out.extend_from_slice(json);
                out.extend_from_slice(b"\n\n");
            }
        }
    }

    /// Appends the end of the body. `error`: a `google.rpc.Status` in JSON, where the call failed after its first message:
    /// the last element, `{"error":…}`, says so, and of events one of the type `error`.
    pub fn end(self, error: Option<&[u8]>, is_first: bool, out: &mut Vec<u8>) {
        let mut is_first = is_first;
        if let Some(error) = error {
            if self == Self::Events {
                out.extend_from_slice(b"event: error\n");
                self.message(error, is_first, out);
            } else {
                self.message(&[b"{\"error\":", error, b"}"].concat(), is_first, out);
            }
            is_first = false;
        }
        if self == Self::Array {
            out.extend_from_slice(if is_first { b"[]" } else { b"]" });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::StreamForm;

    #[test]
    fn streams_end_with_their_error() {
        let body = |form: StreamForm, messages: &[&str], error: Option<&str>| {
            let mut out = Vec::new();
            messages.iter().enumerate().for_each(|(at, json)| form.message(json.as_bytes(), at == 0, &mut out));
            form.end(error.map(str::as_bytes), messages.is_empty(), &mut out);
            String::from_utf8_lossy(&out).into_owned()
        };
        for (form, messages, error, expected) in [
            (StreamForm::Array, &[][..], None, "[]"),
            (StreamForm::Array, &["{}", "1"], None, "[{},1]"),
            (StreamForm::Array, &["1"], Some("{}"), "[1,{\"error\":{}}]"),
            (StreamForm::Array, &[], Some("{}"), "[{\"error\":{}}]"),
            (StreamForm::Lines, &["1", "2"], None, "1\n2\n"),
            (StreamForm::Lines, &["1"], Some("{}"), "1\n{\"error\":{}}\n"),
            (StreamForm::Events, &["1", "2"], None, "data: 1\n\ndata: 2\n\n"),
            (StreamForm::Events, &["1"], Some("{}"), "data: 1\n\nevent: error\ndata: {}\n\n"),
        ] {
            assert_eq!(body(form, messages, error), expected);
        }
    }

    #[test]
    fn the_first_form_that_accept_names_is_taken() {
        for (accept, expected) in [
            (&[][..], StreamForm::Array),
            (&["*/*"], StreamForm::Array),
            (&["text/event-stream"], StreamForm::Events),
            (&["text/html, Application/X-NDJSON;q=0.5"], StreamForm::Lines),
            (&["application/json", "text/event-stream"], StreamForm::Array),
        ] {
            assert_eq!(StreamForm::of_accept(accept.iter().map(|value| value.as_bytes())), expected, "{accept:?}");
        }
    }
}
