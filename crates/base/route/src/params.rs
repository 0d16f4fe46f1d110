use leat_message::{Head, Span};

/// Parameters of one path, at most.
pub const PARAMS_MAX: usize = 16;

/// What a look-up leaves behind: where the parameters are in the request's path, and the memory it works in. Reused from
/// request to request.
///
/// Values are what stands in the request, not decoded: they can be forwarded as they are.
#[derive(Clone, Debug, Default)]
pub struct Params {
    /// Ranges in the request's path.
    spans: [Span; PARAMS_MAX],
    count: usize,
    /// The path that the ranges are in, where that is not the request's.
    kept: Option<Box<[u8]>>,
    allow: Vec<u8>,
    pub(crate) scratch: Scratch,
}

/// Memory that look-ups work in.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch {
    pub(crate) host: Vec<u8>,
    pub(crate) decoded: Vec<u8>,
    pub(crate) reading: Vec<u8>,
}

impl Params {
    /// How many parameters the route that matched has.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether the route has no parameter.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The value of a parameter by its number, in the order of [`crate::Path::names`]; `head` is the request that was
    /// looked up. Empty for a number that is too large.
    pub fn get<'h>(&'h self, index: usize, head: &Head<'h>) -> &'h [u8] {
        self.get_in(index, head.path())
    }

    /// As [`Params::get`], from the request's path alone.
    pub fn get_in<'h>(&'h self, index: usize, path: &'h [u8]) -> &'h [u8] {
        let path = self.kept.as_deref().unwrap_or(path);
        self.spans.get(index).map_or(&[], |span| span.of(path))
    }

    /// Keeps the values that they have in this path, which was looked up: the request gets another one that says nothing of them.
    pub fn keep(&mut self, path: &[u8]) {
        self.kept = Some(path.into());
    }

    /// Whether the request's path is another one than that which was looked up.
    pub fn is_kept(&self) -> bool {
        self.kept.is_some()
    }

    /// The methods to be listed in the `Allow` field of a 405; empty unless the look-up said so.
    pub fn allow(&self) -> &[u8] {
        &self.allow
    }

    pub(crate) fn clear(&mut self) {
        self.spans = [Span::default(); PARAMS_MAX];
        self.count = 0;
        self.kept = None;
        self.allow.clear();
    }

    pub(crate) fn allow_mut(&mut self) -> &mut Vec<u8> {
        &mut self.allow
    }

    /// Notes where the segments with these numbers are in `path`, and what comes after `rest_after` segments.
    pub(crate) fn capture(&mut self, path: &[u8], params: &[u16], rest_after: Option<u16>) {
        if params.is_empty() && rest_after.is_none() {
            return;
        }
        let mut start = 1;
        let mut wanted = params.iter().peekable();
        for number in 0.. {
            if rest_after == Some(number) {
                self.push(Span::new(start.min(path.len()), path.len()));
                return;
            }
            if wanted.peek().is_none() && rest_after.is_none() {
                return;
            }
            let Some(tail) = path.get(start..) else {
                return;
            };
            let end = start + tail.iter().position(|&b| b == b'/').unwrap_or(tail.len());
            if wanted.next_if(|segment| **segment == number).is_some() {
                self.push(Span::new(start, end));
            }
            start = end + 1;
        }
    }

    fn push(&mut self, span: Span) {
        if let Some(slot) = self.spans.get_mut(self.count) {
            *slot = span;
            self.count += 1;
        }
    }
}
