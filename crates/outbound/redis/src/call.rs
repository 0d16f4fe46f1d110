use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use leat_stream::Timer;

use crate::Failure;
use crate::line::{Answer, Line};
use crate::refusal::Refusal;

/// A call on its way. Dropping it gives the answer up; what the script does is done all the same.
pub(crate) struct Call {
    line: Rc<Line>,
    /// `None` once it is over.
    place: Option<usize>,
    deadline: Timer,
}

impl Call {
    pub(crate) fn new(line: &Rc<Line>, place: usize, deadline_at_ms: u64) -> Self {
        let mut deadline = Timer::default();
        deadline.set(deadline_at_ms);
        Self { line: Rc::clone(line), place: Some(place), deadline }
    }
}

impl Future for Call {
    type Output = Answer;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(place) = self.place else { return Poll::Ready(Err(Refusal::Failure(Failure::Lost))) };
        if let Poll::Ready(answer) = self.line.poll_answer(place, cx) {
            self.place = None;
            return Poll::Ready(answer);
        }
        self.deadline.poll_due(cx).map(|()| Err(Refusal::Failure(Failure::Deadline)))
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        if let Some(place) = self.place.take() {
            self.line.give_up(place);
        }
    }
}
