use std::cell::{Cell, RefCell};
use std::rc::Rc;

use leat_message::{Handler, Limits, Profile};
use leat_stream::{clock, is_draining};

/// What to do when a handler panics or fails without a reason of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnError {
    /// Answer 500 and close the connection (HTTP/1) or reset the stream (HTTP/2).
    #[default]
    Close,
    /// Answer 500 and keep the connection where the framing allows it.
    Continue,
    /// Abort the process, for those who want a core dump and a supervisor's restart.
    Crash,
}

/// Everything a reload may change at once: a connection picks up the newest site with its next request, and an exchange
/// under way keeps the one it began with.
#[derive(Debug)]
pub struct Site<H> {
    /// Answers the requests.
    pub handler: H,
    /// Every limit.
    pub limits: Limits,
    /// How doubtful forms are treated.
    pub profile: Profile,
    /// What to do with a handler's panic.
    pub on_error: OnError,
    /// How long an idle connection stays open after a drain began, in milliseconds: a request that is already on its
    /// way is still answered.
    pub drain_grace_ms: u64,
}

/// One core's current site.
#[derive(Debug)]
pub struct Service<H> {
    site: RefCell<Rc<Site<H>>>,
    retired: Cell<bool>,
    resets: Cell<bool>,
}

impl<H: Handler> Service<H> {
    /// Starts with `site`.
    pub fn new(site: Site<H>) -> Rc<Self> {
        Rc::new(Self { site: RefCell::new(Rc::new(site)), retired: Cell::new(false), resets: Cell::new(false) })
    }

    /// The site that a request that arrives now belongs to. Costs a count, no lock.
    #[inline]
    pub fn current(&self) -> Rc<Site<H>> {
        Rc::clone(&self.site.borrow())
    }

    /// Replaces the site for all requests to come.
    pub fn replace(&self, site: Site<H>) {
        let old = self.site.replace(Rc::new(site));
        // Dropped outside the borrow: a handler's drop may look at the service.
        drop(old);
    }

    /// Lets the connections of this service end as a drain of the whole core would: for a listener that a reload
    /// removed. There is no way back.
    pub fn retire(&self) {
        self.retired.set(true);
        clock::wake_all();
    }

    /// From now on the HTTP/1 connections of this service that are dropped while they are served end by a reset (RST).
    pub fn reset(&self) {
        self.resets.set(true);
    }

    pub(crate) fn resets(&self) -> bool {
        self.resets.get()
    }

    /// Whether connections are to end after what is under way.
    #[inline]
    pub(crate) fn is_ending(&self) -> bool {
        self.retired.get() || is_draining()
    }
}
