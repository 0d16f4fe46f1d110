use std::cell::Cell;

use leat_message::{Exchange, Fault, Reason, Reply};
use leat_route::Params;
use leat_rpc::transcode::{Transcoder, Voice};

use crate::admit::{Admitted, FieldLines};
use crate::observer::Observer;
use crate::proxy::{ProxyRoute, forward};

/// Forwards a call of any RPC protocol as one of gRPC.
///
/// # Errors
/// As [`forward`], but for what the client was told of in its own protocol.
pub(crate) async fn forward_transcoded<X: Exchange>(
    x: &mut X,
    transcoder: &Transcoder,
    route: &ProxyRoute,
    params: &Params,
    admitted: Option<&Admitted>,
    observer: &Observer,
) -> Result<(), Fault> {
    let retry_after_s = Cell::new(0);
    let added = |put: &mut dyn FnMut(&[u8], &[u8])| {
        admitted.iter().flat_map(|admitted| admitted.reply.iter()).for_each(|(name, value)| put(name, value));
        if retry_after_s.get() > 0 {
            put(b"retry-after", retry_after_s.get().to_string().as_bytes());
        }
    };
    let limits = |streams| route.body(streams);
    let Some(mut transcoded) = transcoder.open(x, limits, &added).await? else { return Ok(()) };
    let result = forward(&mut transcoded, route, params, admitted, observer).await;
    retry_after_s.set(transcoded.record().retry_after_s);
    transcoded.finish(result).await
}

/// Tells a client of a refusal before the call: in its protocol, with what the checks have to say.
pub(crate) fn refuse_call<R: Reply>(
    transcoder: &Transcoder,
    voice: Voice,
    reply: &mut R,
    (reason, status): (Reason, u16),
    notes: &FieldLines,
) {
    let added = |put: &mut dyn FnMut(&[u8], &[u8])| notes.iter().for_each(|(name, value)| put(name, value));
    transcoder.refuse(voice, reply, reason, status, &added);
}
