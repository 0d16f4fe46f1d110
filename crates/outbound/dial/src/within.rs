use std::future::Future;
use std::pin::pin;
use std::task::Poll;

use leat_stream::Timer;

/// The future's output, or `None` if it takes longer than `ms` on the core's clock.
pub(crate) async fn within<F: Future>(ms: u64, future: F) -> Option<F::Output> {
    let mut future = pin!(future);
    let mut timer = Timer::default();
    timer.set_after(ms);
    std::future::poll_fn(|cx| {
        if let Poll::Ready(output) = future.as_mut().poll(cx) {
            return Poll::Ready(Some(output));
        }
        timer.poll_due(cx).map(|()| None)
    })
    .await
}
