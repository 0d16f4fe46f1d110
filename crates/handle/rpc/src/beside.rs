use leat_message::Step;
use leat_schema::Method;

use crate::call::{Answer, Call, Conversation, Message, Outcome, Service};
use leat_rpc_wire::Status;

/// Two services behind one entry: a path is looked for in the first one, then in the second.
#[derive(Clone, Debug)]
pub struct Beside<A, B> {
    first: A,
    second: B,
}

/// The plan of one of the two.
#[derive(Clone, Copy, Debug)]
pub enum Either<A, B> {
    /// Of the first.
    First(A),
    /// Of the second.
    Second(B),
}

impl<A: Service, B: Service> Beside<A, B> {
    /// Puts `second` beside `first`.
    pub fn new(first: A, second: B) -> Self {
        Self { first, second }
    }

    /// The service that is asked first.
    pub fn first(&self) -> &A {
        &self.first
    }

    /// The other one.
    pub fn second(&self) -> &B {
        &self.second
    }
}

impl<A: Service, B: Service> Service for Beside<A, B> {
    type Plan = Either<A::Plan, B::Plan>;

    fn method(&self, path: &str) -> Option<&Method> {
        self.first.method(path).or_else(|| self.second.method(path))
    }

    fn unknown(&self, path: &str) -> Option<Status> {
        self.first.unknown(path).or_else(|| self.second.unknown(path))
    }

    fn whole<W: Answer>(&self, call: &Call<'_>, request: Message<'_>, answer: &mut W) -> Step<Self::Plan> {
        if self.first.method(call.method.path()).is_some() {
            match self.first.whole(call, request, answer) {
                Step::Done => Step::Done,
                Step::Exchange(plan) => Step::Exchange(Either::First(plan)),
            }
        } else {
            match self.second.whole(call, request, answer) {
                Step::Done => Step::Done,
                Step::Exchange(plan) => Step::Exchange(Either::Second(plan)),
            }
        }
    }

    async fn converse<C: Conversation>(&self, plan: Option<Self::Plan>, conversation: &mut C) -> Outcome {
        match plan {
            Some(Either::First(plan)) => self.first.converse(Some(plan), conversation).await,
            Some(Either::Second(plan)) => self.second.converse(Some(plan), conversation).await,
            None => match self.first.method(conversation.call().method.path()).is_some() {
                true => self.first.converse(None, conversation).await,
                false => self.second.converse(None, conversation).await,
            },
        }
    }
}
