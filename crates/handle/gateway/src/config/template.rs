//! Paths and targets that are put together from parts of a request.

use leat_message::{Head, Method, Reason};
use leat_route::Params;

use super::regex_rewrite::{RegexRewrite, push_value};

/// Text with parts of the request in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    pub(super) pieces: Vec<Part>,
}

/// A part of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Text(String),
    /// A parameter of the route, by number.
    Param(usize),
    /// The request's path.
    Path,
    /// The request's query with its `?`, or `&` behind a query of the text; nothing if there is none.
    Query,
    /// The request's host without port.
    Host,
}

impl Template {
    /// Appends the text for a request. Parts are put in as they arrived, not decoded, and in a query as values that begin no other
    /// parameter; two slashes at the start of a target without scheme, which would make another host of what a client sent,
    /// become one.
    pub fn write(&self, head: &Head<'_>, params: &Params, out: &mut Vec<u8>) {
        let start = out.len();
        let mut in_query = false;
        for piece in &self.pieces {
            let part = match piece {
                Part::Text(text) => {
                    in_query |= text.contains('?');
                    out.extend_from_slice(text.as_bytes());
                    continue;
                }
                Part::Query => {
                    write_query(head, if in_query { b'&' } else { b'?' }, out);
                    in_query |= head.query().is_some();
                    continue;
                }
                Part::Param(index) => params.get(*index, head),
                Part::Path => head.path(),
                Part::Host => head.host(),
            };
            if in_query { push_value(part, out) } else { out.extend_from_slice(part) }
        }
        single_leading_slash(out, start);
    }
}

/// What happens to a request's path before it is passed on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Rewrite {
    /// Nothing: the target goes on as it arrived.
    #[default]
    Keep,
    /// So many segments are taken off its front; the query stays.
    Strip {
        /// Segments.
        segments: usize,
    },
    /// Another path; the query stays unless the template has one.
    Path {
        /// The path.
        template: Template,
        /// Whether the request's own query is appended.
        keep_query: bool,
    },
    /// Another path for those that an expression matches. Boxed: it is rare and large.
    Regex(Box<RegexRewrite>),
}

impl Rewrite {
    /// Appends the path alone, as the files of a directory are looked up by: what a stripped prefix leaves may be empty.
    pub fn write_path_below(&self, head: &Head<'_>, params: &Params, out: &mut Vec<u8>) {
        match self {
            Self::Strip { segments } if !params.is_kept() && strip(head.path(), *segments).is_empty() => {}
            _ => self.write_path(head, params, out),
        }
    }

    fn write_path(&self, head: &Head<'_>, params: &Params, out: &mut Vec<u8>) {
        let start = out.len();
        match self {
            Self::Keep => out.extend_from_slice(head.path()),
            // A path that a plug-in has put, and that does not begin as those of the route.
            Self::Strip { .. } if params.is_kept() => out.extend_from_slice(head.path()),
            Self::Strip { segments } => {
                let stripped = strip(head.path(), *segments);
                if !stripped.starts_with(b"/") {
                    out.push(b'/');
                }
                out.extend_from_slice(stripped);
                single_leading_slash(out, start);
            }
            Self::Path { template, .. } => template.write(head, params, out),
            Self::Regex(regex) => {
                regex.write(head.path(), out);
                single_leading_slash(out, start);
            }
        }
    }

    /// Appends path and query: an origin-form target that starts with a slash (or `*` where nothing is changed and the request is
    /// about the server as a whole).
    pub fn write_target(&self, head: &Head<'_>, params: &Params, out: &mut Vec<u8>) {
        let start = out.len();
        let keeps_query = match self {
            Self::Keep if asks_the_server(head) => {
                out.push(b'*');
                false
            }
            Self::Regex(regex) => {
                let keeps_query = regex.write(head.path(), out);
                single_leading_slash(out, start);
                keeps_query
            }
            other => {
                other.write_path(head, params, out);
                !matches!(other, Self::Path { keep_query: false, .. })
            }
        };
        if keeps_query {
            write_query(head, b'?', out);
        }
    }

    /// The target of all tries where making it is dear and may fail, which an expression is and does; `None` for the others, which
    /// are written anew.
    ///
    /// # Errors
    /// `route.path_dots` and `limit.target_bytes`: that path leads elsewhere, or is too long.
    pub(crate) fn prepare(&self, head: &Head<'_>) -> Result<Option<Vec<u8>>, Reason> {
        let Self::Regex(regex) = self else { return Ok(None) };
        let mut out = Vec::new();
        let keeps_query = regex.write_checked(head.path(), &mut out)?;
        single_leading_slash(&mut out, 0);
        if keeps_query {
            write_query(head, b'?', &mut out);
        }
        Ok(Some(out))
    }
}

fn write_query(head: &Head<'_>, mark: u8, out: &mut Vec<u8>) {
    if let Some(query) = head.query() {
        out.push(mark);
        out.extend_from_slice(query);
    }
}

/// What follows the first `segments` segments, with its slash.
fn strip(path: &[u8], segments: usize) -> &[u8] {
    let mut slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
    slashes.nth(segments).and_then(|at| path.get(at..)).unwrap_or_default()
}

/// OPTIONS with an absolute target of neither path nor query is for the server as a whole (RFC 9112 section 3.2.4).
fn asks_the_server(head: &Head<'_>) -> bool {
    head.method() == Method::Options && head.path() == b"/" && head.query().is_none() && !head.target().ends_with(b"/")
}

fn single_leading_slash(out: &mut Vec<u8>, start: usize) {
    // Browsers take a backslash for a slash.
    let slashes = out.iter().skip(start).take_while(|byte| matches!(**byte, b'/' | b'\\')).count();
    if slashes > 1 {
        // The first one is a slash: templates start with one, and so do paths.
        out.drain(start + 1..start + slashes);
    }
}
