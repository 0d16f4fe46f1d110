//! What JavaScript is told of TLS handshakes.

use leat_message::TlsInfo;
use leat_script::Arrival;
use rquickjs::{Ctx, Object, Result, TypedArray};

/// Longest client certificate that JavaScript is told of; usual ones have 1 to 2 KiB.
const CERTIFICATE_BYTES_MAX: usize = 16 * 1024;

/// What a handshake settled (`Handshake` of `js/http/native.ts`).
pub(super) fn object<'js>(ctx: &Ctx<'js>, arrival: &Arrival, tls: &TlsInfo) -> Result<Object<'js>> {
    let object = Object::new(ctx.clone())?;
    object.set("version", tls.version)?;
    object.set("cipher", tls.cipher)?;
    object.set("serverName", tls.server_name.as_deref().unwrap_or_default())?;
    object.set("alpn", arrival.alpn.as_str())?;
    if let Some(client) = &tls.client {
        object.set("problem", client.problem.unwrap_or_default())?;
        if let Some(leaf) = client.chain.first().filter(|leaf| leaf.len() <= CERTIFICATE_BYTES_MAX) {
            object.set("certificate", TypedArray::<u8>::new_copy(ctx.clone(), leaf)?)?;
        }
    }
    Ok(object)
}
