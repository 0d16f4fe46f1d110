use std::collections::HashMap;

use super::escape::{self, Keep};
use super::template::{Segment, Template, Variable};

/// Segments of a request's path that are looked at; a longer path matches nothing but a `**`.
const PATH_SEGMENTS_MAX: usize = 256;

/// Finds the binding of a method and a path. A tree of segments: a literal goes before `*`, and `*` before `**`; where the
/// first choice leads nowhere the next one is tried. Each node is visited at most once, since its depth is that of its segment.
#[derive(Debug, Default)]
pub struct Router {
    nodes: Vec<Node>,
}

#[derive(Debug, Default)]
struct Node {
    literals: HashMap<Box<[u8]>, usize>,
    one: Option<usize>,
    /// Templates that end here.
    ends: Vec<End>,
    /// Templates that go on with `**`.
    rests: Vec<End>,
}

#[derive(Debug)]
struct End {
    method: Box<str>,
    verb: Option<Box<[u8]>>,
    binding: usize,
}

/// What a look-up came to.
#[derive(Debug, PartialEq, Eq)]
pub enum Routed {
    /// The number of the binding.
    Found(usize),
    /// The path has bindings, of these methods.
    Method(Vec<String>),
    /// No binding has such a path.
    Nothing,
}

impl Router {
    /// Adds a binding by its number.
    ///
    /// # Errors
    /// The number of another one that takes the same requests.
    pub fn add(&mut self, method: &str, template: &Template, binding: usize) -> Result<(), usize> {
        if self.nodes.is_empty() {
            self.nodes.push(Node::default());
        }
        let mut at = 0;
        let mut is_rest = false;
        for segment in &template.segments {
            let fresh = self.nodes.len();
            let Some(node) = self.nodes.get_mut(at) else { break };
            at = match segment {
                Segment::Literal(text) => *node.literals.entry(text.as_bytes().into()).or_insert(fresh),
                Segment::One => *node.one.get_or_insert(fresh),
                Segment::Rest => {
                    is_rest = true;
                    break;
                }
            };
            if at == fresh {
                self.nodes.push(Node::default());
            }
        }
        let Some(node) = self.nodes.get_mut(at) else { return Ok(()) };
        let ends = if is_rest { &mut node.rests } else { &mut node.ends };
        let verb = template.verb.as_deref().map(str::as_bytes);
        let same = |end: &&End| end.verb.as_deref() == verb && &*end.method == method;
        if let Some(other) = ends.iter().find(same) {
            return Err(other.binding);
        }
        ends.push(End { method: method.into(), verb: verb.map(Into::into), binding });
        Ok(())
    }

    /// Finds the binding of a request; `path` is as it arrived, without its query.
    ///
    /// Cost: one allocation for the segments.
    pub fn find(&self, method: &[u8], path: &[u8]) -> Routed {
        let Some(path) = path.strip_prefix(b"/") else { return Routed::Nothing };
        let segments: Vec<&[u8]> = match path {
            b"" => Vec::new(),
            _ => path.split(|&byte| byte == b'/').take(PATH_SEGMENTS_MAX + 1).collect(),
        };
        let mut look = Look { router: self, method, verb: None, methods: Vec::new(), plain: Vec::new() };
        // The text behind the last colon may be a verb, or a part of its segment (google/api/http.proto, "Verb").
        if let Some((last, before)) = segments.split_last()
            && let Some(colon) = last.iter().rposition(|&byte| byte == b':')
        {
            let mut with_verb = before.to_vec();
            let (name, verb) = last.split_at(colon);
            look.verb = Some(verb.get(1..).unwrap_or_default());
            with_verb.push(name);
            if let Some(binding) = look.walk(0, &with_verb) {
                return Routed::Found(binding);
            }
            look.verb = None;
        }
        if let Some(binding) = look.walk(0, &segments) {
            return Routed::Found(binding);
        }
        if look.methods.is_empty() { Routed::Nothing } else { Routed::Method(look.methods) }
    }
}

struct Look<'a> {
    router: &'a Router,
    method: &'a [u8],
    verb: Option<&'a [u8]>,
    methods: Vec<String>,
    plain: Vec<u8>,
}

impl Look<'_> {
    fn walk(&mut self, at: usize, segments: &[&[u8]]) -> Option<usize> {
        let node = self.router.nodes.get(at)?;
        let Some((segment, behind)) = segments.split_first() else {
            return self.end(&node.ends).or_else(|| self.end(&node.rests));
        };
        if !node.literals.is_empty() {
            self.plain.clear();
            escape::decode(segment, Keep::Nothing, &mut self.plain);
            if let Some(&next) = node.literals.get(self.plain.as_slice())
                && let Some(found) = self.walk(next, behind)
            {
                return Some(found);
            }
        }
        if let Some(next) = node.one
            && !segment.is_empty()
            && let Some(found) = self.walk(next, behind)
        {
            return Some(found);
        }
        self.end(&node.rests)
    }

    fn end(&mut self, ends: &[End]) -> Option<usize> {
        for end in ends.iter().filter(|end| end.verb.as_deref() == self.verb) {
            if end.method.as_bytes() == self.method || &*end.method == "*" {
                return Some(end.binding);
            }
            if !self.methods.iter().any(|method| **method == *end.method) {
                self.methods.push(end.method.to_string());
            }
        }
        None
    }
}

/// The text that a variable takes from a path that its template matches: that of its segments.
pub(crate) fn variable_text(path: &[u8], template: &Template, variable: &Variable) -> Vec<u8> {
    let path = path.strip_prefix(b"/").unwrap_or(path);
    let path = match template.verb {
        Some(_) => path.iter().rposition(|&byte| byte == b':').and_then(|colon| path.get(..colon)).unwrap_or(path),
        None => path,
    };
    let keep = if variable.is_many { Keep::Slashes } else { Keep::Nothing };
    let mut text = Vec::new();
    let count = variable.end - variable.start;
    for (number, segment) in path.split(|&byte| byte == b'/').skip(variable.start).take(count).enumerate() {
        if number > 0 {
            text.push(b'/');
        }
        escape::decode(segment, keep, &mut text);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEMPLATES: [(&str, &str); 12] = [
        ("GET", "/v1/shelves"),
        ("POST", "/v1/shelves"),
        ("GET", "/v1/{name=shelves/*}"),
        ("GET", "/v1/{name=shelves/*/books/*}"),
        ("GET", "/v1/{name=shelves/*}:read"),
        ("POST", "/v1/shelves:merge"),
        ("GET", "/v1/{any=**}"),
        ("GET", "/v1/special/{name}"),
        ("PUT", "/v1/*/{b}"),
        ("*", "/all/{x}"),
        ("GET", "/"),
        ("GET", "/v1/{any=**}:verb"),
    ];

    fn template(text: &str) -> Template {
        Template::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn the_most_literal_template_of_the_method_is_found() {
        let mut router = Router::default();
        for (number, (method, text)) in TEMPLATES.iter().enumerate() {
            assert_eq!(router.add(method, &template(text), number), Ok(()));
        }
        let allowed = |methods: &[&str]| Routed::Method(methods.iter().map(|method| (*method).to_owned()).collect());
        for (method, path, expected) in [
            ("GET", "/v1/shelves", Routed::Found(0)),
            ("POST", "/v1/shelves", Routed::Found(1)),
            ("GET", "/v1/%73helves", Routed::Found(0)),
            ("GET", "/v1/shelves/1", Routed::Found(2)),
            ("GET", "/v1/shelves/1/books/2", Routed::Found(3)),
            ("GET", "/v1/shelves/1:read", Routed::Found(4)),
            // No such verb: the colon belongs to the name.
            ("GET", "/v1/shelves/1:write", Routed::Found(2)),
            ("POST", "/v1/shelves:merge", Routed::Found(5)),
            ("GET", "/v1/shelves/1/books", Routed::Found(6)),
            ("GET", "/v1", Routed::Found(6)),
            ("GET", "/v1/a//b", Routed::Found(6)),
            ("GET", "/v1/a/b:verb", Routed::Found(11)),
            ("GET", "/v1/special/x", Routed::Found(7)),
            // The literal has no PUT, `*` has.
            ("PUT", "/v1/special/x", Routed::Found(8)),
            ("PATCH", "/all/1", Routed::Found(9)),
            ("GET", "/all/1/2", Routed::Nothing),
            ("GET", "/all/", Routed::Nothing),
            ("GET", "/", Routed::Found(10)),
            ("DELETE", "/v1/shelves", allowed(&["GET", "POST"])),
            ("GET", "/v2", Routed::Nothing),
            ("GET", "", Routed::Nothing),
            ("GET", "*", Routed::Nothing),
            ("GET", "/:verb", Routed::Nothing),
        ] {
            assert_eq!(router.find(method.as_bytes(), path.as_bytes()), expected, "{method} {path}");
        }
        assert_eq!(Router::default().find(b"GET", b"/"), Routed::Nothing);
    }

    #[test]
    fn two_templates_for_the_same_requests_are_a_conflict() {
        for (one, other, conflict) in [
            ("/v1/{a}", "/v1/{b}", true),
            ("/v1/{a=x/*}", "/v1/x/{b}", true),
            ("/v1/{a=**}", "/v1/**", true),
            ("/v1/{a}", "/v1/{a}:verb", false),
            ("/v1/{a}", "/v1/x", false),
        ] {
            let mut router = Router::default();
            assert_eq!(router.add("GET", &template(one), 7), Ok(()));
            let expected = if conflict { Err(7) } else { Ok(()) };
            assert_eq!(router.add("GET", &template(other), 8), expected, "{one} {other}");
            assert_eq!(router.add("PUT", &template(one), 9), Ok(()));
        }
    }

    #[test]
    fn variables_take_the_text_of_their_segments() {
        for (text, path, expected) in [
            ("/v1/{a}", "/v1/x%20y%2Fz", "x y/z"),
            ("/v1/{a}", "/v1/x:y", "x:y"),
            ("/v1/{a}:verb", "/v1/x:y:verb", "x:y"),
            ("/v1/{a=b/*}/c", "/v1/b/x%20%2F/c", "b/x %2F"),
            ("/v1/{a=**}", "/v1/x/y//z%2f", "x/y//z%2f"),
            ("/v1/{a=b/**}:verb", "/v1/b/x/y:verb", "b/x/y"),
            ("/v1/{a=**}", "/v1", ""),
        ] {
            let template = template(text);
            let variable = &template.variables[0];
            let found = variable_text(path.as_bytes(), &template, variable);
            assert_eq!(String::from_utf8_lossy(&found), expected, "{text} {path}");
        }
    }
}
