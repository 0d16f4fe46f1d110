use std::collections::VecDeque;
use std::ops::Range;
use std::task::Waker;

use crate::batch::Held;
use crate::ids::Ids;

/// The exchanges of a lane that are open.
#[derive(Default)]
pub(crate) struct Exchanges {
    ids: Ids,
    mails: Vec<Mail>,
}

/// What JavaScript has sent for one exchange.
#[derive(Default)]
pub(crate) struct Mail {
    pub(crate) items: VecDeque<Item>,
    /// Body bytes that JavaScript has asked for.
    pub(crate) credit: usize,
    pub(crate) waker: Option<Waker>,
}

impl Mail {
    /// Puts something in, and wakes who waits for it.
    pub(crate) fn tell(&mut self, put: impl FnOnce(&mut Self)) {
        put(self);
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }

    /// Has this waker called by the next thing that is put in.
    pub(crate) fn listen(&mut self, waker: &Waker) {
        if !self.waker.as_ref().is_some_and(|known| known.will_wake(waker)) {
            self.waker = Some(waker.clone());
        }
    }
}

/// One record from JavaScript.
pub(crate) struct Item {
    pub(crate) kind: u32,
    pub(crate) flags: u32,
    pub(crate) status: u16,
    pub(crate) head_len: usize,
    pub(crate) batch: Held,
    pub(crate) text: Range<usize>,
    /// Where the copied bytes of its buffers begin.
    pub(crate) data: usize,
    pub(crate) buffers: Range<usize>,
}

impl Item {
    /// Whether it has no bytes.
    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty() && self.buffers.is_empty()
    }
}

impl Exchanges {
    /// A place for a new exchange; `None` where a million are open.
    pub(crate) fn open(&mut self, credit: usize) -> Option<u32> {
        let (id, index) = self.ids.take()?;
        if index >= self.mails.len() {
            self.mails.resize_with(index + 1, Mail::default);
        }
        self.mails.get_mut(index)?.credit = credit;
        Some(id)
    }

    /// What was sent for an exchange; `None` once it is closed.
    #[inline]
    pub(crate) fn mail(&mut self, id: u32) -> Option<&mut Mail> {
        let index = self.ids.index(id)?;
        self.mails.get_mut(index)
    }

    /// Closes an exchange: what is still sent for it goes nowhere.
    pub(crate) fn close(&mut self, id: u32) -> bool {
        let Some(mail) = self.ids.free(id).and_then(|index| self.mails.get_mut(index)) else { return false };
        mail.items.clear();
        mail.waker = None;
        true
    }

    /// Wakes every exchange that waits.
    pub(crate) fn wake_all(&mut self) {
        self.mails.iter_mut().filter_map(|mail| mail.waker.take()).for_each(Waker::wake);
    }
}
