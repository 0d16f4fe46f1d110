use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Wake, Waker};

/// What the crate wakes: the connection's task, unless it is at work and polls the crate anyway.
///
/// Every frame that a reply gives to its stream asks for the connection to be polled. Without this a reply that is given
/// between two polls costs a third one, with a turn of the scheduler, that finds nothing to do.
pub(super) struct Bell {
    shared: Arc<Shared>,
    waker: Waker,
}

struct Shared {
    task: Mutex<Option<Waker>>,
    is_muted: AtomicBool,
}

impl Wake for Shared {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        // Who wakes has changed something under the crate's lock. That is seen by the poll behind the silence, which takes
        // the same lock after the silence has ended.
        if !self.is_muted.load(Ordering::Acquire)
            && let Some(task) = &*self.task.lock().unwrap_or_else(PoisonError::into_inner)
        {
            task.wake_by_ref();
        }
    }
}

impl Bell {
    pub(super) fn new() -> Self {
        let shared = Arc::new(Shared { task: Mutex::new(None), is_muted: AtomicBool::new(false) });
        Self { waker: Waker::from(Arc::clone(&shared)), shared }
    }

    /// What to poll the crate with in the task of `cx`. Ends a silence.
    pub(super) fn waker(&self, cx: &Context<'_>) -> &Waker {
        self.shared.is_muted.store(false, Ordering::Release);
        let mut task = self.shared.task.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *task {
            Some(task) => task.clone_from(cx.waker()),
            none => *none = Some(cx.waker().clone()),
        }
        &self.waker
    }

    /// Wakes nobody until the next [`Bell::waker`]: the task is at work and polls the crate behind it.
    pub(super) fn mute(&self) {
        self.shared.is_muted.store(true, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;

    #[derive(Default)]
    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn a_muted_bell_wakes_nobody_until_it_is_asked_for_again() {
        let [first, second] = [Arc::new(Count::default()), Arc::new(Count::default())];
        let counts = || [&first, &second].map(|count| count.0.load(Ordering::Relaxed));
        let [first_waker, second_waker] = [&first, &second].map(|count| Waker::from(Arc::clone(count)));
        let bell = Bell::new();
        let waker = bell.waker(&Context::from_waker(&first_waker)).clone();
        waker.wake_by_ref();
        assert_eq!(counts(), [1, 0]);
        bell.mute();
        waker.wake_by_ref();
        assert_eq!(counts(), [1, 0]);
        let again = bell.waker(&Context::from_waker(&second_waker));
        assert!(again.will_wake(&waker));
        again.wake_by_ref();
        assert_eq!(counts(), [1, 1]);
    }
}
