use std::task::{Context, Poll};

use leat_message::{Fields, Head, Reason};

/// What runs plug-ins, on one core.
pub trait PluginHost: 'static {
    /// One request's way through them.
    type Run: PluginRun;

    /// Shows the plug-ins of a set (its number in the configuration) a request.
    fn begin(&self, set: usize, head: Head<'_>) -> Self::Run;
}

/// One request's way through the plug-ins of its route. Dropped before it was told of a response, it ends for them with an error.
pub trait PluginRun: 'static {
    /// What they want done with what they were shown last.
    fn decision(&self) -> Decision;

    /// Ready once the decision is another one than [`Decision::Pending`], within a time of the host's.
    fn poll_decided(&mut self, cx: &mut Context<'_>) -> Poll<Decision>;

    /// Whether they want to be told of the response, by [`PluginRun::response`] or [`PluginRun::no_response`].
    fn wants_response(&self) -> bool;

    /// Shows them the response's head.
    fn response(&mut self, status: u16, fields: Fields<'_>) -> Decision;

    /// Tells them that there is no response, and why. They may respond instead.
    fn no_response(&mut self, reason: Reason) -> Decision;

    /// Gives them the body that they wait for; without it, it can't be had, and they go on all the same.
    fn body(&mut self, bytes: Option<Vec<u8>>) -> Decision;

    /// Tells those who are waiting that nobody waits for them any more, and why.
    fn leave(&mut self, reason: Reason);

    /// The changes that were decided on, or the reply. `None` where there is none of either.
    fn patch(&self) -> Option<impl Patch + '_>;
}

/// What plug-ins want done with a request or a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It goes on as it is.
    Unchanged,
    /// It goes on with the changes of [`PluginRun::patch`].
    Changed,
    /// [`PluginRun::patch`] is the whole reply to the client.
    Respond,
    /// A plug-in waits for something.
    Pending,
    /// A plug-in waits for the body of what they were shown last, which [`PluginRun::body`] gives.
    WantsBody,
    /// A plug-in failed, which costs the request.
    Failed(Reason),
}

/// Changes of a head, or a whole reply. The host has checked that names and values are legal, and that no field is among them that
/// belongs to framing or connections.
pub trait Patch {
    /// The method, where another one is wanted; never CONNECT.
    fn method(&self) -> Option<&[u8]>;

    /// Path and query, where others are wanted: they begin with a slash.
    fn target(&self) -> Option<&[u8]>;

    /// The name of the upstream that the request goes to in place of the route's: the host has checked that there is one.
    fn upstream(&self) -> Option<&[u8]>;

    /// The status, from 200 to 599.
    fn status(&self) -> Option<u16>;

    /// A message's whole body.
    fn body(&self) -> Option<&[u8]>;

    /// Whether that is a text, which no content-coding was applied to.
    fn is_text(&self) -> bool;

    /// Fields: a value that takes the place of all of that name, or `None` where these go. A name with several values comes several
    /// times, one behind the other.
    fn edits(&self) -> impl Iterator<Item = (&[u8], Option<&[u8]>)>;
}
