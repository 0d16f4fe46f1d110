use std::sync::Arc;

use buffa_descriptor::DescriptorPool;
use leat_schema::{MessageType, Method};

use super::template::Names;

/// The method that a reply is for: what its requests and its messages are.
#[derive(Clone, Debug)]
pub struct Target {
    pub(super) input: MessageType,
    pub(super) output: MessageType,
    pub(super) client_streams: bool,
    pub(super) server_streams: bool,
    pub(super) method: Box<str>,
}

impl Target {
    /// Of a method.
    #[must_use]
    pub fn new(method: &Method) -> Self {
        Self {
            input: method.input().clone(),
            output: method.output().clone(),
            client_streams: method.client_streams(),
            server_streams: method.server_streams(),
            method: method.full_name().into(),
        }
    }

    pub(super) fn pool(&self) -> &Arc<DescriptorPool> {
        self.output.pool()
    }

    /// What templates may name; without `templates` there are none.
    pub(super) fn names(&self, templates: bool) -> Names {
        Names::new(self.input.pool(), self.input.index(), templates)
    }
}
