use std::rc::Rc;

use crate::ids::Ids;

/// What JavaScript can tell a connection's owner.
pub trait Control {
    /// Close once nothing is under way.
    fn close(&self);
    /// Close now, whatever is under way; by a reset, if asked for.
    fn destroy(&self, reset: bool);
}

/// The connections of a lane.
#[derive(Default)]
pub(crate) struct Connections {
    ids: Ids,
    controls: Vec<Option<Rc<dyn Control>>>,
}

impl Connections {
    /// An id for a new connection; `None` where a million are open.
    pub(crate) fn open(&mut self, control: Rc<dyn Control>) -> Option<u32> {
        let (id, index) = self.ids.take()?;
        if index >= self.controls.len() {
            self.controls.resize(index + 1, None);
        }
        *self.controls.get_mut(index)? = Some(control);
        Some(id)
    }

    /// Who to tell.
    pub(crate) fn get(&self, id: u32) -> Option<Rc<dyn Control>> {
        self.controls.get(self.ids.index(id)?).cloned().flatten()
    }

    /// Closes a connection; says whether it was open.
    pub(crate) fn close(&mut self, id: u32) -> bool {
        let Some(control) = self.ids.free(id).and_then(|index| self.controls.get_mut(index)) else { return false };
        *control = None;
        true
    }
}
