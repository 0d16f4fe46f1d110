use std::borrow::Cow;

use leat_rpc_wire::compression::Coding;
use leat_rpc_wire::envelope::{self, COMPRESSED};
use leat_rpc_wire::grpc_web::text;
use leat_rpc_wire::{Detail, Form, MediaType, Opening, Status};
use leat_schema::Method;

use super::scratch;
use crate::call::Message;
use crate::transcribe;

/// The message in the client's form: itself, where both speak the same.
pub(super) fn in_form<'m>(message: Message<'m>, form: Form, method: &Method) -> Result<Cow<'m, [u8]>, Status> {
    if message.form == form {
        return Ok(Cow::Borrowed(message.bytes));
    }
    let mut out = Vec::new();
    transcribe::reply(method.output(), message.form == Form::Json, message.bytes, &mut out)?;
    Ok(Cow::Owned(out))
}

/// Appends a message to a body of envelopes.
pub(super) fn append(opening: Opening, message: &[u8], out: &mut Vec<u8>) {
    as_text(opening, out, |out| match opening.answered {
        Coding::Identity => envelope::write(0, message, out),
        coding => envelope::write_with(COMPRESSED, out, |out| coding.compress(message, out)),
    });
}

/// Appends what `write` makes, in the text form where the client speaks that.
pub(super) fn as_text(opening: Opening, out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    if !matches!(opening.media, MediaType::GrpcWebText(_)) {
        return write(out);
    }
    scratch::with_bytes(|plain| {
        write(plain);
        text::encode(plain, out);
    });
}

/// A detail in JSON for people, where the method's schema has its type.
pub(super) fn debug(method: Option<&Method>, detail: &Detail, out: &mut Vec<u8>) -> bool {
    let kind = method.and_then(|method| method.input().sibling(&detail.type_name));
    kind.is_some_and(|kind| kind.to_json(&detail.value, out).is_ok())
}
