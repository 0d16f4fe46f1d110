use std::task::{Context, Poll};

use leat_message::{Fields, Head, Reason};

use super::{Decision, Patch, PluginHost, PluginRun};

/// The host of a gateway without plug-ins. There is no value of it.
#[derive(Clone, Copy, Debug)]
pub enum NoPlugins {}

impl PluginHost for NoPlugins {
    type Run = Self;

    fn begin(&self, _set: usize, _head: Head<'_>) -> Self {
        *self
    }
}

impl PluginRun for NoPlugins {
    fn decision(&self) -> Decision {
        match *self {}
    }

    fn poll_decided(&mut self, _cx: &mut Context<'_>) -> Poll<Decision> {
        match *self {}
    }

    fn wants_response(&self) -> bool {
        match *self {}
    }

    fn response(&mut self, _status: u16, _fields: Fields<'_>) -> Decision {
        match *self {}
    }

    fn no_response(&mut self, _reason: Reason) -> Decision {
        match *self {}
    }

    fn body(&mut self, _bytes: Option<Vec<u8>>) -> Decision {
        match *self {}
    }

    fn leave(&mut self, _reason: Reason) {
        match *self {}
    }

    fn patch(&self) -> Option<impl Patch + '_> {
        Some(*self)
    }
}

impl Patch for NoPlugins {
    fn method(&self) -> Option<&[u8]> {
        match *self {}
    }

    fn target(&self) -> Option<&[u8]> {
        match *self {}
    }

    fn upstream(&self) -> Option<&[u8]> {
        match *self {}
    }

    fn status(&self) -> Option<u16> {
        match *self {}
    }

    fn body(&self) -> Option<&[u8]> {
        match *self {}
    }

    fn is_text(&self) -> bool {
        match *self {}
    }

    fn edits(&self) -> impl Iterator<Item = (&[u8], Option<&[u8]>)> {
        std::iter::empty()
    }
}
