use leat_message::Reply;

use super::respond::{WHOLE_BYTES_MAX, respond_whole};
use super::{Decision, Patch, PluginRun};
use crate::refuse::refuse;

/// What plug-ins that were shown a request mean for the raw step.
pub(crate) enum Opening {
    /// The reply is written.
    Answered,
    /// They have something to do with the exchange.
    Goes,
    /// They are through with it.
    Unchanged,
}

/// Answers where plug-ins have decided on that, or have failed.
pub(crate) fn opening<R: Reply>(run: &impl PluginRun, reply: &mut R) -> Opening {
    match (run.decision(), run.patch()) {
        (Decision::Failed(reason), _) => {
            refuse(reply, reason, None);
            Opening::Answered
        }
        (Decision::Respond, Some(patch)) if patch.body().unwrap_or_default().len() <= WHOLE_BYTES_MAX => {
            respond_whole(&patch, reply);
            Opening::Answered
        }
        (Decision::Unchanged, _) if !run.wants_response() => Opening::Unchanged,
        _ => Opening::Goes,
    }
}
