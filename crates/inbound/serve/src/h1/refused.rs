use std::panic::{AssertUnwindSafe, catch_unwind};

use leat_message::{Fault, Handler, Reason};
use leat_stream::clock::NEVER;

use super::connection::{Connection, End};
use crate::refusal::write_problem;

/// What happens to bytes that are no request, or not any more.
impl<H: Handler> Connection<H> {
    /// Answers them, and ends the connection.
    pub(super) async fn refuse(&mut self, reason: Reason) -> End {
        let asked = || self.site.handler.refused(reason, &self.peer);
        if reason.status() != 0
            && let Ok(Some(plan)) = catch_unwind(AssertUnwindSafe(asked))
        {
            // Boxed: no connection that is never refused anything pays for its state.
            return Box::pin(self.refuse_by(plan, reason)).await;
        }
        self.reply.begin_refusal();
        self.reply.record.reason = Some(reason);
        if reason.status() != 0 {
            write_problem(&mut self.reply, reason);
        }
        self.record_refusal();
        if !self.flushed().await || reason.status() == 0 {
            return End::Abort;
        }
        End::Linger
    }

    /// Has the handler answer them, in an exchange that is nothing but bytes.
    async fn refuse_by(&mut self, plan: H::Plan, reason: Reason) -> End {
        // The replies to earlier requests do not wait for the handler.
        if !self.reply.output.is_empty() && !self.flushed().await {
            return End::Abort;
        }
        self.lines.clear();
        self.reply.begin_refusal();
        self.reply.record.reason = Some(reason);
        self.reply.take_over();
        self.body.become_tunnel();
        self.wait.limit_body(None);
        self.wait.gone_at_ms = NEVER;
        let outcome = self.run_handler(plan).await;
        let outcome = outcome.and_then(|()| match self.reply.is_done() {
            true => Ok(()),
            false => Err(Fault::from(Reason::HandlerFailed)),
        });
        if let Err(fault) = outcome {
            self.on_error(fault.reason);
            self.reply.record.detail = Some(fault.reason);
            // A handler that only wanted the end gets it.
            if fault.reason.status() == 0 || !self.reply.take_back() {
                self.record_refusal();
                return End::Abort;
            }
            write_problem(&mut self.reply, reason);
        }
        self.record_refusal();
        if self.flushed().await { End::Linger } else { End::Abort }
    }
}
