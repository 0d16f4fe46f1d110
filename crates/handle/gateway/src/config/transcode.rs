use std::sync::Arc;

use leat_rpc::transcode::Transcoder;

use super::action::Proxy;

impl Proxy {
    /// What makes gRPC of the requests of other protocols; `None`: they pass as they are.
    pub fn transcoder(&self) -> Option<&Arc<Transcoder>> {
        self.transcoder.as_ref()
    }
}
