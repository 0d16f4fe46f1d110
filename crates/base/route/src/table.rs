use leat_message::{Head, Reason};

use crate::form::{self, Refusal};
use crate::hash::Map;
use crate::methods::{Bits, Names};
use crate::params::Scratch;
use crate::path::Shape;
use crate::tree::{self, Candidate, Search, Tree};
use crate::{Host, Params, Pattern};

/// One pattern of a route; a route may have several (several hosts, say).
#[derive(Clone, Debug)]
pub struct Entry {
    /// What the route is for.
    pub pattern: Pattern,
    /// The number that a look-up answers with.
    pub route: u32,
}

/// An entry that could never be reached, by the positions of both entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conflict {
    /// `second` can never be reached: every request that it is for goes to `first`.
    Unreachable {
        /// The entry that wins.
        first: usize,
        /// The entry that is never reached.
        second: usize,
    },
    /// `entry` brings one method too many that is not a well-known one.
    Methods {
        /// The entry.
        entry: usize,
    },
}

/// What a look-up found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// The route with this number; its parameters are in [`Params`].
    Route(u32),
    /// Routes match in everything but the method; the list for `Allow` is [`Params::allow`]. Answered with 405.
    MethodNotAllowed,
    /// No route matches. Answered with 404.
    NotFound,
    /// The path may not be routed. Answered with 400.
    Refused(Reason),
}

/// The compiled routes. Cheap to share: nothing in it changes.
#[derive(Clone, Debug, Default)]
pub struct Table {
    trees: Vec<Tree>,
    exact: Map<Box<[u8]>, u32>,
    below: Map<Box<[u8]>, u32>,
    any: Option<u32>,
    methods: Names,
}

impl Table {
    /// Compiles routes; once, when a configuration is loaded.
    ///
    /// # Errors
    /// Every entry that could never be reached, with the one that is in its way.
    pub fn compile(entries: &[Entry]) -> Result<Self, Vec<Conflict>> {
        let mut table = Self::default();
        let mut conflicts = Vec::new();
        let mut sorted: Vec<Compiled<'_>> = Vec::new();
        for (at, entry) in entries.iter().enumerate() {
            match table.methods.bits(&entry.pattern.methods) {
                Some(methods) => sorted.push(Compiled::new(at, entry, methods)),
                None => conflicts.push(Conflict::Methods { entry: at }),
            }
        }
        // Precedence within a host; the sort is stable, so the order in which entries were given decides last.
        sorted.sort_by_cached_key(|compiled| {
            let pattern = &compiled.entry.pattern;
            (tree::precedence(&pattern.path.shape), std::cmp::Reverse(pattern.weight()))
        });
        let mut groups: Vec<Vec<Compiled<'_>>> = Vec::new();
        let mut group_of: Map<(&Host, &Shape), usize> = Map::default();
        for compiled in sorted {
            let pattern = &compiled.entry.pattern;
            let number = *group_of.entry((&pattern.host, &pattern.path.shape)).or_insert(groups.len());
            if number == groups.len() {
                groups.push(Vec::new());
            }
            let Some(group) = groups.get_mut(number) else { continue };
            if let Some(first) = group.iter().find(|first| first.hides(&compiled)) {
                conflicts.push(Conflict::Unreachable { first: first.at, second: compiled.at });
            }
            group.push(compiled);
        }
        if !conflicts.is_empty() {
            return Err(conflicts);
        }
        for group in groups {
            if let Some(first) = group.first() {
                let pattern = &first.entry.pattern;
                let tree = table.tree(&pattern.host);
                if let Some(tree) = table.trees.get_mut(tree as usize) {
                    tree.add(&pattern.path, group.iter().map(Compiled::candidate).collect());
                }
            }
        }
        Ok(table)
    }

    /// Finds the route of a request. Allocates nothing once `params` has been used for requests of this size.
    pub fn find(&self, head: &Head<'_>, params: &mut Params) -> Found {
        self.find_of(head, self.methods.of(head), params)
    }

    /// Finds the route that the same request would have with another method. Costs as [`Table::find`].
    pub fn find_for(&self, head: &Head<'_>, method: &[u8], params: &mut Params) -> Found {
        self.find_of(head, self.methods.named(method), params)
    }

    #[inline]
    fn find_of(&self, head: &Head<'_>, method: Bits, params: &mut Params) -> Found {
        params.clear();
        let path = head.path();
        let mut scratch = std::mem::take(&mut params.scratch);
        let found = if form::is_plain(path) {
            self.search(head, method, path, &mut scratch.host)
        } else {
            self.search_doubtful(head, method, path, &mut scratch)
        };
        params.scratch = scratch;
        match found {
            Ok(Match::Found(candidate)) => {
                params.capture(path, &candidate.params, candidate.rest_after);
                Found::Route(candidate.route)
            }
            Ok(Match::Method(allowed)) => {
                self.methods.write_allow(allowed, params.allow_mut());
                Found::MethodNotAllowed
            }
            Ok(Match::None) => Found::NotFound,
            Err(reason) => Found::Refused(reason),
        }
    }

    /// A path that has to be decoded first, or that may be read in several ways: every way must lead to the same place.
    #[cold]
    fn search_doubtful<'t>(
        &'t self,
        head: &Head<'_>,
        method: Bits,
        path: &[u8],
        scratch: &mut Scratch,
    ) -> Result<Match<'t>, Reason> {
        let Scratch { host, decoded, reading } = scratch;
        decoded.clear();
        form::decode(path, decoded);
        let doubt = form::examine(decoded).map_err(|refusal| match refusal {
            Refusal::Dots => Reason::RoutePathDots,
            Refusal::Nul => Reason::RoutePathAmbiguous,
        })?;
        let found = self.search(head, method, decoded, host)?;
        if doubt.is_none() {
            return Ok(found);
        }
        for changes in doubt.readings() {
            reading.clear();
            changes.write(decoded, reading);
            if !self.search(head, method, reading, host)?.is_same(&found) {
                return Err(Reason::RoutePathAmbiguous);
            }
        }
        Ok(found)
    }

    #[inline]
    fn search<'t>(
        &'t self,
        head: &Head<'_>,
        method: Bits,
        path: &[u8],
        host: &mut Vec<u8>,
    ) -> Result<Match<'t>, Reason> {
        let mut search = Search { head, method, allowed: Bits::default(), best: None };
        if !self.exact.is_empty() || !self.below.is_empty() {
            self.search_named(path, host, &mut search);
        }
        if search.best.is_none()
            && let Some(tree) = self.any.and_then(|tree| self.trees.get(tree as usize))
        {
            tree.find(path, &mut search);
        }
        Ok(match search.best {
            Some((_, candidate)) => Match::Found(candidate),
            None if !search.allowed.is_empty() => Match::Method(search.allowed),
            None => Match::None,
        })
    }

    fn search_named<'t>(&'t self, path: &[u8], host: &mut Vec<u8>, search: &mut Search<'t, '_>) {
        host.clear();
        let name = search.head.host();
        host.extend(name.strip_suffix(b".").unwrap_or(name).iter().map(u8::to_ascii_lowercase));
        let tree = |number: Option<&u32>| number.and_then(|number| self.trees.get(*number as usize));
        if let Some(tree) = tree(self.exact.get(host.as_slice())) {
            tree.find(path, search);
        }
        if self.below.is_empty() {
            return;
        }
        // From the left, so the longest suffix comes first. A name starts with no dot of a suffix.
        for (at, _) in host.iter().enumerate().skip(1).filter(|(_, byte)| **byte == b'.') {
            if search.best.is_some() {
                return;
            }
            if let Some(tree) = tree(host.get(at..).and_then(|suffix| self.below.get(suffix))) {
                tree.find(path, search);
            }
        }
    }

    fn tree(&mut self, host: &Host) -> u32 {
        let next = self.trees.len() as u32;
        let number = match host {
            Host::Any => *self.any.get_or_insert(next),
            Host::Exact(name) => *self.exact.entry(name.as_bytes().into()).or_insert(next),
            Host::Below(suffix) => *self.below.entry(suffix.as_bytes().into()).or_insert(next),
        };
        if number == next {
            self.trees.push(Tree::default());
        }
        number
    }
}

enum Match<'t> {
    Found(&'t Candidate),
    Method(Bits),
    None,
}

impl Match<'_> {
    fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Found(one), Self::Found(two)) => one.route == two.route,
            (Self::Method(_), Self::Method(_)) | (Self::None, Self::None) => true,
            _ => false,
        }
    }
}

struct Compiled<'e> {
    at: usize,
    entry: &'e Entry,
    methods: Bits,
    /// Sorted and without repetition, to be compared.
    predicates: Vec<&'e crate::Predicate>,
}

impl<'e> Compiled<'e> {
    fn new(at: usize, entry: &'e Entry, methods: Bits) -> Self {
        let mut predicates: Vec<_> = entry.pattern.predicates.iter().collect();
        predicates.sort();
        predicates.dedup();
        Self { at, entry, methods, predicates }
    }

    /// Whether no request reaches `later`, which has the same host and shape and comes after this one.
    fn hides(&self, later: &Self) -> bool {
        self.methods.covers(later.methods)
            && self.predicates.iter().all(|predicate| later.predicates.contains(predicate))
    }

    fn candidate(&self) -> Candidate {
        let Pattern { path, .. } = &self.entry.pattern;
        Candidate {
            route: self.entry.route,
            methods: self.methods,
            predicates: self.predicates.iter().map(|predicate| (*predicate).clone()).collect(),
            params: path.param_segments().map(|segment| segment as u16).collect(),
            rest_after: path.rest_after().map(|segments| segments as u16),
        }
    }
}
