use std::rc::Rc;

use leat_message::{Ended, Exchange, Fault, Handler, Head, Peer, Reason, Reply, Step};
use leat_script::{Plan, Script};

use crate::rpc::Rpc;

/// A connection's way to a program; that of a server of RPC makes gRPC of what its clients speak.
#[derive(Clone)]
pub struct Speaking {
    script: Rc<Script>,
    rpc: Option<Rpc>,
}

impl Speaking {
    /// The way to `script`, by `rpc` where that is there.
    pub fn new(script: Script, rpc: Option<Rpc>) -> Self {
        Self { script: Rc::new(script), rpc }
    }

    /// Whether a request is the program's as it is.
    fn is_plain(&self, request: Head<'_>) -> bool {
        match &self.rpc {
            None => true,
            Some(rpc) => rpc.has_fallback && !rpc.calls(request),
        }
    }
}

impl AsRef<Script> for Speaking {
    fn as_ref(&self) -> &Script {
        &self.script
    }
}

impl Handler for Speaking {
    type Plan = Plan;

    #[inline]
    fn raw<R: Reply>(&self, request: Head<'_>, peer: &Peer, reply: &mut R) -> Step<Plan> {
        self.script.raw(request, peer, reply)
    }

    async fn exchange<X: Exchange>(&self, plan: Plan, exchange: &mut X) -> Result<(), Fault> {
        if let (Some(rpc), Plan::Request) = (&self.rpc, plan)
            && rpc.transcoder.knows(exchange.request())
            && rpc.cors.answer_preflight(exchange)
        {
            return Ok(());
        }
        let rpc = match (&self.rpc, plan) {
            (Some(rpc), Plan::Request) if !self.is_plain(exchange.request()) => rpc,
            _ => return self.script.exchange(plan, exchange).await,
        };
        let origin = rpc.cors.origin(exchange.request()).to_owned();
        let added = |put: &mut dyn FnMut(&[u8], &[u8])| origin.origin().each(put);
        let Some(mut call) = rpc.transcoder.open_within(exchange, &added).await? else { return Ok(()) };
        let result = self.script.exchange(plan, &mut call).await;
        call.finish(result).await
    }

    fn refused(&self, reason: Reason, peer: &Peer) -> Option<Plan> {
        self.script.refused(reason, peer)
    }

    fn reads_off(&self) -> bool {
        self.script.reads_off()
    }

    fn ended(&self, ended: Ended<'_>) {
        self.script.ended(ended);
    }

    fn broke_off(&self, reason: Reason) {
        self.script.broke_off(reason);
    }
}
