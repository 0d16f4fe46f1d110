//! The paths of one host: a hash map of literal paths, and a tree of segments for everything else.

use std::cmp::Reverse;

use leat_message::Head;

use crate::hash::Map;
use crate::methods::Bits;
use crate::path::{End, Segment, Shape};
use crate::{Path, Predicate};

/// A route as one of the paths in a tree.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    pub(crate) route: u32,
    pub(crate) methods: Bits,
    pub(crate) predicates: Vec<Predicate>,
    /// Numbers of the segments that are parameters.
    pub(crate) params: Vec<u16>,
    /// How many segments come before the rest that the path names.
    pub(crate) rest_after: Option<u16>,
}

/// The candidates of one shape of path, in order of precedence.
#[derive(Clone, Debug, Default)]
struct Bucket {
    /// Precedence of the shape among those of this host; lower comes first.
    rank: u32,
    candidates: Vec<Candidate>,
}

#[derive(Clone, Debug, Default)]
struct Node {
    texts: Map<Box<[u8]>, u32>,
    param: Option<u32>,
    exact: Option<u32>,
    boundary: Option<u32>,
    slash: Option<u32>,
}

/// An index over the paths of one host.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tree {
    buckets: Vec<Bucket>,
    /// Paths without parameters and with an end: a look-up is one hash.
    literal: Map<Box<[u8]>, u32>,
    /// The first node is the root, before the first segment.
    nodes: Vec<Node>,
    any: Option<u32>,
}

/// A look-up under way.
pub(crate) struct Search<'t, 'r> {
    pub(crate) head: &'r Head<'r>,
    pub(crate) method: Bits,
    /// Methods of the routes that match in everything else.
    pub(crate) allowed: Bits,
    pub(crate) best: Option<(u32, &'t Candidate)>,
}

impl<'t> Search<'t, '_> {
    fn visit(&mut self, bucket: &'t Bucket) {
        if self.best.is_some_and(|(rank, _)| rank <= bucket.rank) {
            return;
        }
        for candidate in &bucket.candidates {
            if !candidate.predicates.iter().all(|predicate| predicate.matches(self.head)) {
                continue;
            }
            if candidate.methods.intersects(self.method) {
                self.best = Some((bucket.rank, candidate));
                return;
            }
            self.allowed.add(candidate.methods);
        }
    }
}

/// Sorts shapes by precedence.
pub(crate) fn precedence(shape: &Shape) -> (u8, Reverse<usize>, Vec<bool>, u8) {
    let Shape::Segments { segments, end } = shape else {
        return (3, Reverse(0), Vec::new(), 0);
    };
    let params: Vec<bool> = segments.iter().map(|segment| *segment == Segment::Param).collect();
    match end {
        End::Exact if params.contains(&true) => (1, Reverse(0), params, 0),
        End::Exact => (0, Reverse(0), Vec::new(), 0),
        End::Slash => (2, Reverse(segments.len()), params, 0),
        End::Boundary => (2, Reverse(segments.len()), params, 1),
    }
}

impl Tree {
    /// Adds the candidates of one shape, in order of precedence. Shapes are added in order of precedence.
    pub(crate) fn add(&mut self, path: &Path, candidates: Vec<Candidate>) {
        let number = self.buckets.len() as u32;
        self.buckets.push(Bucket { rank: number, candidates });
        let Shape::Segments { segments, end } = &path.shape else {
            self.any = Some(number);
            return;
        };
        if *end == End::Exact
            && let Some(literal) = joined(segments)
        {
            self.literal.insert(literal, number);
            return;
        }
        let mut at = self.root();
        for segment in segments {
            at = self.child(at, segment);
        }
        if let Some(node) = self.nodes.get_mut(at as usize) {
            match end {
                End::Exact => node.exact = Some(number),
                End::Boundary => node.boundary = Some(number),
                End::Slash => node.slash = Some(number),
            }
        }
    }

    /// Looks for the best candidate for `path`, which is in the form that paths are matched in.
    #[inline]
    pub(crate) fn find<'t>(&'t self, path: &[u8], search: &mut Search<'t, '_>) {
        if let Some(bucket) = self.literal.get(path) {
            self.visit(Some(*bucket), search);
            if search.best.is_some() {
                return;
            }
        }
        if let (Some(root), Some((b'/', after))) = (self.nodes.first(), path.split_first()) {
            self.walk(root, Some(after), search);
        }
        self.visit(self.any, search);
    }

    /// `rest` is what follows the slash after the segments so far; `None` if the path ended without one. As deep as the
    /// longest pattern at most, and visits a node once at most.
    fn walk<'t>(&'t self, node: &'t Node, rest: Option<&[u8]>, search: &mut Search<'t, '_>) {
        let Some(rest) = rest else {
            self.visit(node.exact, search);
            self.visit(node.boundary, search);
            return;
        };
        if node.param.is_some() || !node.texts.is_empty() {
            let mut parts = rest.splitn(2, |&b| b == b'/');
            let segment = parts.next().unwrap_or_default();
            let after = parts.next();
            if let Some(child) = node.texts.get(segment).and_then(|child| self.nodes.get(*child as usize)) {
                self.walk(child, after, search);
            }
            if let Some(child) = node.param.and_then(|child| self.nodes.get(child as usize))
                && !segment.is_empty()
            {
                self.walk(child, after, search);
            }
        }
        self.visit(node.slash, search);
        self.visit(node.boundary, search);
    }

    #[inline]
    fn visit<'t>(&'t self, bucket: Option<u32>, search: &mut Search<'t, '_>) {
        if let Some(bucket) = bucket.and_then(|number| self.buckets.get(number as usize)) {
            search.visit(bucket);
        }
    }

    fn root(&mut self) -> u32 {
        if self.nodes.is_empty() {
            self.nodes.push(Node::default());
        }
        0
    }

    fn child(&mut self, at: u32, segment: &Segment) -> u32 {
        let next = self.nodes.len() as u32;
        let Some(node) = self.nodes.get_mut(at as usize) else {
            return at;
        };
        let child = match segment {
            Segment::Text(text) => *node.texts.entry(text.clone()).or_insert(next),
            Segment::Param => *node.param.get_or_insert(next),
        };
        if child == next {
            self.nodes.push(Node::default());
        }
        child
    }
}

/// The whole path of segments that are all text.
fn joined(segments: &[Segment]) -> Option<Box<[u8]>> {
    let mut path = Vec::new();
    for segment in segments {
        let Segment::Text(text) = segment else {
            return None;
        };
        path.push(b'/');
        path.extend_from_slice(text);
    }
    Some(path.into_boxed_slice())
}
