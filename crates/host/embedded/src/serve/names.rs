//! Names of properties of messages, as QuickJS has them: made once a world, so that reading one costs no string.
#![allow(unsafe_code, reason = "atoms are QuickJS's own")]

use rquickjs::{Ctx, Value, qjs};

/// # Safety
/// The context is live, and `value` is an owned one of it, which is taken.
unsafe fn class_of(raw: *mut qjs::JSContext, value: qjs::JSValue) -> qjs::JSClassID {
    // SAFETY: by what the caller promises.
    unsafe {
        let class = qjs::JS_GetClassID(value);
        qjs::JS_FreeValue(raw, value);
        class
    }
}

macro_rules! names {
    ($($field:ident = $text:literal,)*) => {
        /// One atom for each name.
        pub(super) struct Names {
            runtime: *mut qjs::JSRuntime,
            /// The symbol by which an emitter says that it captures rejections.
            pub(super) captures: qjs::JSAtom,
            /// The classes of plain objects and of arrays.
            pub(super) object_class: qjs::JSClassID,
            pub(super) array_class: qjs::JSClassID,
            $(pub(super) $field: qjs::JSAtom,)*
        }

        impl Names {
            /// To be dropped before the world's runtime ends.
            pub(super) fn new(ctx: &Ctx<'_>, captures: &Value<'_>) -> Self {
                let raw = ctx.as_raw().as_ptr();
                // SAFETY: the context and the symbol are live, and QuickJS copies the text.
                unsafe {
                    Self {
                        runtime: qjs::JS_GetRuntime(raw),
                        captures: qjs::JS_ValueToAtom(raw, captures.as_raw()),
                        object_class: class_of(raw, qjs::JS_NewObject(raw)),
                        array_class: class_of(raw, qjs::JS_NewArray(raw)),
                        $($field: qjs::JS_NewAtomLen(raw, $text.as_ptr().cast(), $text.len() as _),)*
                    }
                }
            }
        }

        impl Names {
            /// A name as a string, which is there already.
            pub(super) fn string<'js>(&self, ctx: &Ctx<'js>, name: qjs::JSAtom) -> Value<'js> {
                // SAFETY: context and atom are live; the value is owned.
                unsafe { Value::from_raw(ctx.clone(), qjs::JS_AtomToValue(ctx.as_raw().as_ptr(), name)) }
            }
        }

        impl Drop for Names {
            fn drop(&mut self) {
                // SAFETY: the runtime is live, by what `new` asks for; each atom was taken once.
                unsafe {
                    qjs::JS_FreeAtomRT(self.runtime, self.captures);
                    $(qjs::JS_FreeAtomRT(self.runtime, self.$field);)*
                }
            }
        }
    };
}

names! {
    url = "url",
    method = "method",
    get = "GET",
    post = "POST",
    req = "req",
    res = "_res",
    line = "_line",
    exchange = "_exchange",
    keep_alive_timeout = "_keepAliveTimeout",
    current = "current",
    requests = "requests",
    server_timeout = "keepAliveTimeout",
    requests_max = "maxRequestsPerSocket",
    particular = "_particular",
    emit = "emit",
    events = "_events",
    request = "request",
    socket = "socket",
    last_bytes = "lastBytes",
    complete = "complete",
    body_done = "_bodyDone",
    events_count = "_eventsCount",
    status_code = "statusCode",
    status_message = "statusMessage",
    fields = "_headers",
    unread = "_unread",
    header = "_header",
    header_sent = "_headerSent",
    finished = "finished",
    destroyed = "destroyed",
    closed = "_closed",
    empty_rest = "_emptyRest",
    writable_finished = "_writableFinished",
    strict_content_length = "strictContentLength",
    has_body = "_hasBody",
    send_date = "sendDate",
    should_keep_alive = "shouldKeepAlive",
    default_keep_alive = "_defaultKeepAlive",
    chunked_by_default = "useChunkedEncodingByDefault",
    last = "_last",
    raw = "_raw",
    chunked_encoding = "chunkedEncoding",
    expect_continue = "_expect_continue",
    removed_connection = "_removedConnection",
    removed_transfer_encoding = "_removedTE",
    removed_content_length = "_removedContLen",
    requests_reached = "maxRequestsOnConnectionReached",
    unique_headers = "_uniqueHeaders",
    response_requests_max = "_maxRequestsPerSocket",
    write_head = "writeHead",
    implicit_header = "_implicitHeader",
    store_header = "_storeHeader",
    set_header = "setHeader",
    get_header = "getHeader",
    end = "end",
    own_headers = "headers",
    corked = "_corked",
    to_json = "toJSON",
    etag = "etag",
    transfer_encoding = "transfer-encoding",
    content_length = "content-length",
    content_type = "content-type",
    ok = "OK",
    status_line = "HTTP/1.1 200 OK\r\n",
}
