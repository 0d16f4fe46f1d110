//! A conversation whose messages a test has ready, and an answer that it can look at.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::Future;
use std::net::SocketAddr;
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use leat_message::{Address, Fields, Peer, Scheme};
use leat_rpc_wire::Status;
use leat_schema::Method;

use crate::{Answer, Call, CallMetadata, Conversation, Fault, Message, Prepared, Protocol};

pub(crate) fn peer() -> Peer {
    let address = Address::Ip(SocketAddr::from(([127, 0, 0, 1], 1)));
    Peer { remote: address.clone(), local: address, scheme: Scheme::Http, tls: None }
}

pub(crate) fn call<'a>(method: &'a Method, peer: &'a Peer) -> Call<'a> {
    let metadata = CallMetadata::new(Fields::new(b"", &[]));
    Call { method, metadata, timeout: None, peer, protocol: Protocol::Grpc, get_query: None }
}

/// Sends `requests`, then half closes or fails; keeps what was sent.
pub(crate) struct Script<'a> {
    pub(crate) method: &'a Method,
    pub(crate) peer: Peer,
    pub(crate) requests: VecDeque<Vec<u8>>,
    pub(crate) now: Vec<u8>,
    /// How receiving ends, in place of a half close.
    pub(crate) fails: Option<Status>,
    pub(crate) sent: Rc<RefCell<Vec<Vec<u8>>>>,
}

impl<'a> Script<'a> {
    pub(crate) fn new(method: &'a Method, requests: impl IntoIterator<Item = Vec<u8>>) -> Self {
        let requests = requests.into_iter().collect();
        Self { method, peer: peer(), requests, now: Vec::new(), fails: None, sent: Rc::default() }
    }
}

impl Conversation for Script<'_> {
    fn call(&self) -> Call<'_> {
        call(self.method, &self.peer)
    }

    fn poll_receive(&mut self, _: &mut Context<'_>) -> Poll<Result<bool, Status>> {
        let next = self.requests.pop_front();
        let there = next.is_some();
        if !there && let Some(status) = self.fails.take() {
            return Poll::Ready(Err(status));
        }
        self.now = next.unwrap_or_default();
        Poll::Ready(Ok(there))
    }

    fn message(&self) -> Message<'_> {
        Message::binary(&self.now)
    }

    fn header(&mut self, _: &str, _: &[u8]) {}

    fn poll_room(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Status>> {
        Poll::Ready(Ok(()))
    }

    fn send(&mut self, message: Message<'_>) -> Result<(), Status> {
        self.sent.borrow_mut().push(message.bytes.to_vec());
        Ok(())
    }

    fn send_prepared(&mut self, message: &Prepared) {
        self.sent.borrow_mut().push(message.binary.to_vec());
    }

    fn send_headers(&mut self) {}

    fn fault(&mut self, _: Fault) {}
}

/// What was answered.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Answered(pub(crate) Option<Result<Vec<u8>, Status>>);

impl Answer for Answered {
    fn header(&mut self, _: &str, _: &[u8]) {}

    fn trailer(&mut self, _: &str, _: &[u8]) {}

    fn message(&mut self, message: Message<'_>) {
        self.0 = Some(Ok(message.bytes.to_vec()));
    }

    fn prepared(&mut self, message: &Prepared) {
        self.0 = Some(Ok(message.binary.to_vec()));
    }

    fn fail(&mut self, status: &Status) {
        self.0 = Some(Err(status.clone()));
    }
}

/// Runs a future that never waits.
pub(crate) fn ready<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("it waits"),
    }
}
