use std::future::poll_fn;
use std::task::Poll;

/// Lets every task of this core that is ready run once before the caller goes on; at once where none is.
///
/// Who does this between reading and writing reads all that has come to the core before the first of the writes. On the way of a
/// proxied request that saves a tenth of the processor's time: the peer of the writes is woken once for all of them, and the
/// kernel's code for each stays in the caches (docs/design/serving.md). Costs one more poll; no allocation, no timer.
pub async fn others_first() {
    let mut has_waited = false;
    poll_fn(|cx| {
        if std::mem::replace(&mut has_waited, true) {
            return Poll::Ready(());
        }
        // The runtime appends who is woken to its queue.
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;

    use tokio::task::{LocalSet, spawn_local};

    use super::*;

    #[tokio::test]
    async fn all_read_before_the_first_writes() {
        let done = Rc::new(RefCell::new(Vec::new()));
        let run = async {
            let tasks: Vec<_> = (0..3)
                .map(|number| {
                    let done = Rc::clone(&done);
                    spawn_local(async move {
                        done.borrow_mut().push(("reads", number));
                        others_first().await;
                        done.borrow_mut().push(("writes", number));
                    })
                })
                .collect();
            for task in tasks {
                task.await.unwrap();
            }
        };
        LocalSet::new().run_until(run).await;
        let in_order = ["reads", "writes"].into_iter().flat_map(|what| (0..3).map(move |number| (what, number)));
        assert_eq!(*done.borrow(), in_order.collect::<Vec<_>>());
    }
}
