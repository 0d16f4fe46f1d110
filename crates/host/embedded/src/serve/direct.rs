use std::rc::Rc;

use leat_message::{Ended, Exchange, Fault, Handler, Head, Peer, Reason, Reply, Step};
use leat_script::{Plan, Script};

use super::http::Http;
use super::request::Made;
use crate::host::Life;

/// One connection's way to JavaScript on this thread: its requests are calls.
#[derive(Clone)]
pub(super) struct Direct(Rc<Inner>);

struct Inner {
    script: Script,
    http: Rc<Http>,
    server: u32,
}

impl Drop for Inner {
    fn drop(&mut self) {
        if let Some(connection) = self.script.connection() {
            self.http.parted(connection);
        }
    }
}

impl Direct {
    pub(super) fn new(script: Script, http: Rc<Http>, server: u32, peer: &Peer) -> Self {
        let direct = Self(Rc::new(Inner { script, http, server }));
        let inner = &direct.0;
        if let Some(connection) = inner.script.connection() {
            inner.http.opened(inner.server, connection, inner.script.arrival(), peer.tls.as_ref());
        }
        direct
    }
}

impl AsRef<Script> for Direct {
    fn as_ref(&self) -> &Script {
        &self.0.script
    }
}

impl Handler for Direct {
    type Plan = Plan;

    fn raw<R: Reply>(&self, request: Head<'_>, peer: &Peer, reply: &mut R) -> Step<Plan> {
        self.raw_with_body(request, &[], peer, reply)
    }

    fn raw_with_body<R: Reply>(&self, request: Head<'_>, body: &[u8], peer: &Peer, reply: &mut R) -> Step<Plan> {
        let Inner { script, http, server, .. } = &*self.0;
        let (Some(exchange), Some(connection)) = (script.begin(peer), script.connection()) else {
            // The lane has ended, which the exchange answers with the reason for it.
            return Step::Exchange(Plan::Request);
        };
        match http.request(*server, connection, exchange, request, body, reply) {
            Made::Whole => {
                script.end(exchange);
                Step::Done
            }
            Made::Begun => Step::Exchange(Plan::Begun(exchange)),
            Made::Heard => Step::Exchange(Plan::Heard(exchange)),
        }
    }

    async fn exchange<X: Exchange>(&self, plan: Plan, exchange: &mut X) -> Result<(), Fault> {
        let host = self.0.http.host();
        let _under_way = host.begin();
        let done = self.0.script.exchange(plan, exchange).await;
        if host.life() == Life::Lost {
            // The connection ends with its world.
            exchange.keep_alive(false);
        }
        done
    }

    fn refused(&self, reason: Reason, peer: &Peer) -> Option<Plan> {
        self.0.script.refused(reason, peer)
    }

    fn reads_off(&self) -> bool {
        self.0.script.reads_off()
    }

    fn ended(&self, ended: Ended<'_>) {
        self.0.script.ended(ended);
    }

    fn broke_off(&self, reason: Reason) {
        self.0.script.broke_off(reason);
    }
}
