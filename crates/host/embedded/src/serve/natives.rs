//! What JavaScript calls of its servers (`js/http/native.ts` says what each is for).

use std::net::{IpAddr, SocketAddr};

use leat_door::{Place, Settings, Tls};
use leat_message::Reason;
use rquickjs::function::{Func, Opt};
use rquickjs::{Array, Ctx, Exception, Object, Persistent, Result, String, TypedArray, Value};

use super::call::Objects;
use super::http::Http;

/// Kinds of records to the lane.
pub(super) const HEAD: u32 = 1;
const DATA: u32 = 2;
const END: u32 = 3;
pub(super) const READ: u32 = 4;
pub(super) const ABORT: u32 = 5;
const OPAQUE: u32 = 6;
const CLOSE: u32 = 7;
const DESTROY: u32 = 8;

/// Flags of replies.
pub(super) const LAST: u32 = 1;
pub(super) const KEEP: u32 = 2;
const INTERIM: u32 = 8;

/// What of a reply's text is latin1 rather than UTF-8.
const BODY_LATIN1: u32 = 1;
const HEAD_LATIN1: u32 = 2;

pub(super) fn group<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let group = Object::new(ctx.clone())?;
    group.set("hooks", Func::from(|ctx: Ctx<'js>, hooks: Object<'js>| Http::of(&ctx)?.set_hooks(&ctx, hooks)))?;
    group.set("listen", Func::from(listen))?;
    group.set("close", Func::from(|ctx: Ctx<'js>, server: u32| Http::of(&ctx).map(|http| http.close(server))))?;
    group.set("forget", Func::from(|ctx: Ctx<'js>, server: u32| Http::of(&ctx).map(|http| http.forget(server))))?;
    group.set(
        "hold",
        Func::from(|ctx: Ctx<'js>, server: u32, hold: bool| Http::of(&ctx).map(|http| http.hold(server, hold))),
    )?;
    group.set("settings", Func::from(change))?;
    group.set("finish", super::replies::finish_function(ctx)?)?;
    group.set("reply", super::replies::reply_function(ctx)?)?;
    group.set("whole", Func::from(whole))?;
    group.set("head", Func::from(head))?;
    group.set("serving", Func::from(|ctx: Ctx<'js>| Http::of(&ctx).map(|http| http.serving())))?;
    group.set("written", Func::from(|ctx: Ctx<'js>| Http::of(&ctx).map(|http| http.written())))?;
    group.set("interim", Func::from(interim))?;
    group.set("data", Func::from(data))?;
    group.set("end", Func::from(end))?;
    group.set(
        "read",
        Func::from(|ctx: Ctx<'js>, exchange: u32, bytes: u32| Http::of(&ctx).map(|http| http.read(exchange, bytes))),
    )?;
    group.set("json", super::body::json_function(ctx)?)?;
    group.set("bytes", Func::from(super::body::bytes))?;
    group.set(
        "abort",
        Func::from(|ctx: Ctx<'js>, exchange: u32, reset: bool| push(&ctx, ABORT, reset.into(), exchange, 0)),
    )?;
    group.set(
        "abandon",
        Func::from(|ctx: Ctx<'js>, exchange: u32, begun: bool, body: bool| {
            Http::of(&ctx).map(|http| http.abandon(exchange, begun, body))
        }),
    )?;
    group.set("collect", Func::from(|ctx: Ctx<'js>| ctx.run_gc()))?;
    group.set("opaque", Func::from(|ctx: Ctx<'js>, exchange: u32| push(&ctx, OPAQUE, 0, exchange, 0)))?;
    group.set("closeConnection", Func::from(|ctx: Ctx<'js>, connection: u32| push(&ctx, CLOSE, 0, connection, 0)))?;
    group.set(
        "destroyConnection",
        Func::from(|ctx: Ctx<'js>, connection: u32, reset: bool| push(&ctx, DESTROY, reset.into(), connection, 0)),
    )?;
    group.set("sendPlain", super::replies::send_plain_function(ctx)?)?;
    group.set(
        "holdConnection",
        Func::from(|ctx: Ctx<'js>, connection: u32, hold: bool| {
            Http::of(&ctx).map(|http| http.hold_connection(connection, hold))
        }),
    )?;
    group.set(
        "line",
        Func::from(|ctx: Ctx<'js>, connection: u32, line: Object<'js>| {
            Http::of(&ctx).map(|http| http.set_line(&ctx, connection, line))
        }),
    )?;
    group.set("isValue", Func::from(is_value))?;
    group.set("tag", Func::from(tag))?;
    group.set("reasons", Func::from(reasons))?;
    Ok(group)
}

fn push(ctx: &Ctx<'_>, kind: u32, flags: u32, target: u32, value: u32) -> Result<()> {
    Http::of(ctx)?.push(kind, flags, target, value, 0, &[]);
    Ok(())
}

fn settings_of(options: &Object<'_>) -> Result<Settings> {
    let tls: Option<Object<'_>> = options.get("tls")?;
    Ok(Settings {
        headers_timeout: options.get("headersTimeout")?,
        request_timeout: options.get("requestTimeout")?,
        keep_alive_timeout: options.get("keepAliveTimeout")?,
        max_header_size: options.get("maxHeaderSize")?,
        max_headers_count: options.get("maxHeadersCount")?,
        http2: options.get("http2")?,
        no_delay: options.get("noDelay")?,
        keep_alive: options.get("keepAlive")?,
        keep_alive_initial_delay: options.get("keepAliveInitialDelay")?,
        connections_max: options.get("connectionsMax")?,
        tls: tls.map(|tls| tls_of(&tls)).transpose()?,
        // Node.js's: nothing of this host makes RPC of requests.
        rpc: None,
    })
}

fn tls_of(options: &Object<'_>) -> Result<Tls> {
    Ok(Tls {
        cert: options.get("cert")?,
        key: options.get("key")?,
        ca: options.get("ca")?,
        request_cert: options.get("requestCert")?,
        reject_unauthorized: options.get("rejectUnauthorized")?,
        min_version: options.get("minVersion")?,
        max_version: options.get("maxVersion")?,
        alpn_protocols: options.get("ALPNProtocols")?,
    })
}

/// `{ server, address, family, port }` of a server that listens now.
fn listen<'js>(
    ctx: Ctx<'js>,
    options: Object<'js>,
    request: Object<'js>,
    response: Object<'js>,
    server: Object<'js>,
) -> Result<Object<'js>> {
    let objects = Objects {
        server: Persistent::save(&ctx, server),
        request: Persistent::save(&ctx, request),
        response: Persistent::save(&ctx, response),
    };
    let settings = settings_of(&options)?;
    let backlog: Option<i32> = options.get("backlog")?;
    let path: Option<std::string::String> = options.get("path")?;
    let fd: Option<i32> = options.get("fd")?;
    let host: Option<std::string::String> = options.get("host")?;
    let place = match (fd, &path) {
        (Some(fd), _) => Place::Descriptor(fd),
        (None, Some(path)) => Place::Unix(path),
        (None, None) => {
            let host = host.as_deref().unwrap_or("::");
            let ip: IpAddr =
                host.parse().map_err(|_| Exception::throw_message(&ctx, &format!("{host} is not an IP address")))?;
            Place::Tcp {
                address: SocketAddr::new(ip, options.get::<_, Option<u16>>("port")?.unwrap_or(0)),
                ipv6_only: options.get::<_, Option<bool>>("ipv6Only")?.unwrap_or(false),
                reuse_port: options.get::<_, Option<bool>>("reusePort")?.unwrap_or(false),
            }
        }
    };
    let (server, address) = Http::of(&ctx)?.listen(&ctx, place, backlog, settings, objects)?;
    let listening = Object::new(ctx)?;
    listening.set("server", server)?;
    if let Some(address) = address {
        listening.set("address", address.ip().to_string())?;
        listening.set("family", if address.is_ipv6() { "IPv6" } else { "IPv4" })?;
        listening.set("port", address.port())?;
    }
    Ok(listening)
}

fn change<'js>(ctx: Ctx<'js>, server: u32, options: Object<'js>) -> Result<()> {
    Http::of(&ctx)?.change(server, settings_of(&options)?);
    Ok(())
}

/// A whole reply: its body is text (UTF-8, or Latin-1 if `latin1` says so), bytes, or nothing. The head leaves as the body's text
/// does where Node joins the two, else as Latin-1.
fn whole<'js>(
    ctx: Ctx<'js>,
    exchange: u32,
    status: u16,
    keep: bool,
    head: String<'js>,
    body: Value<'js>,
    latin1: u32,
) -> Result<()> {
    let http = Http::of(&ctx)?;
    let mut failed = None;
    let mut write = |out: &mut Vec<u8>| {
        let wrote = append_text(out, &head, latin1 & HEAD_LATIN1 != 0 || !body.is_string()).and_then(|()| {
            let head_len = out.len();
            append(out, &body, latin1 & BODY_LATIN1 != 0).map(|()| head_len)
        });
        wrote.unwrap_or_else(|error| {
            failed = Some(error);
            0
        })
    };
    if !http.answer_now(exchange, status, keep, &mut write) {
        let mut bytes = Vec::new();
        let head_len = write(&mut bytes);
        http.push(HEAD, LAST | if keep { KEEP } else { 0 }, exchange, status.into(), head_len as u32, &bytes);
    }
    failed.map_or(Ok(()), Err)
}

/// A head, and the first of the body; `flags` as those of records.
fn head<'js>(
    ctx: Ctx<'js>,
    exchange: u32,
    status: u16,
    flags: u32,
    head: String<'js>,
    first: Value<'js>,
    latin1: u32,
) -> Result<()> {
    let mut bytes = Vec::new();
    append_text(&mut bytes, &head, latin1 & HEAD_LATIN1 != 0 || !first.is_string())?;
    let head_len = bytes.len();
    append(&mut bytes, &first, latin1 & BODY_LATIN1 != 0)?;
    Http::of(&ctx)?.push(HEAD, flags, exchange, status.into(), head_len as u32, &bytes);
    Ok(())
}

fn interim<'js>(ctx: Ctx<'js>, exchange: u32, status: u16, head: String<'js>) -> Result<()> {
    let mut bytes = Vec::new();
    append_text(&mut bytes, &head, true)?;
    Http::of(&ctx)?.push(HEAD, INTERIM, exchange, status.into(), bytes.len() as u32, &bytes);
    Ok(())
}

fn data<'js>(ctx: Ctx<'js>, exchange: u32, flags: u32, body: Value<'js>, latin1: bool) -> Result<()> {
    let mut bytes = Vec::new();
    append(&mut bytes, &body, latin1)?;
    Http::of(&ctx)?.push(DATA, flags, exchange, 0, 0, &bytes);
    Ok(())
}

/// The end of a reply; of HTTP/2, with its trailers as lines.
fn end<'js>(ctx: Ctx<'js>, exchange: u32, flags: u32, Opt(trailers): Opt<String<'js>>) -> Result<()> {
    let mut bytes = Vec::new();
    if let Some(trailers) = &trailers {
        append_text(&mut bytes, trailers, true)?;
    }
    Http::of(&ctx)?.push(END, flags, exchange, trailers.is_some().into(), 0, &bytes);
    Ok(())
}

pub(super) fn append<'js>(out: &mut Vec<u8>, value: &Value<'js>, latin1: bool) -> Result<()> {
    if let Some(text) = value.as_string() {
        return append_text(out, text, latin1);
    }
    if let Some(bytes) = value.as_object().and_then(|object| object.as_typed_array::<u8>()) {
        append_bytes(out, bytes);
    }
    Ok(())
}

#[allow(unsafe_code, reason = "the bytes of a typed array are read in place")]
fn append_bytes(out: &mut Vec<u8>, bytes: &TypedArray<'_, u8>) {
    if let Some(raw) = bytes.as_raw() {
        // SAFETY: the memory of a live array; nothing of JavaScript runs before the copy is made.
        out.extend_from_slice(unsafe { raw.as_ref() });
    }
}

/// Text as UTF-8, or one byte a character: of others the low byte, as Node's buffers do it. Half a surrogate pair becomes U+FFFD.
pub(crate) fn append_text(out: &mut Vec<u8>, text: &String<'_>, latin1: bool) -> Result<()> {
    let text = text.clone().to_cstring()?;
    let Ok(utf8) = std::str::from_utf8(text.as_bytes()) else {
        append_halves(out, text.as_bytes(), latin1);
        return Ok(());
    };
    if !latin1 || utf8.is_ascii() {
        out.extend_from_slice(utf8.as_bytes());
    } else {
        out.extend(utf8.encode_utf16().map(|unit| unit as u8));
    }
    Ok(())
}

/// Text with halves of surrogate pairs, each three bytes of what is no UTF-8.
fn append_halves(out: &mut Vec<u8>, bytes: &[u8], latin1: bool) {
    for chunk in bytes.utf8_chunks() {
        let valid = chunk.valid();
        if latin1 {
            out.extend(valid.encode_utf16().map(|unit| unit as u8));
        } else {
            out.extend_from_slice(valid.as_bytes());
        }
        // The first of the three bytes stands for all of them.
        if chunk.invalid().first().is_some_and(|byte| *byte >= 0xc0) {
            out.extend_from_slice(if latin1 { &[0xfd] } else { "\u{fffd}".as_bytes() });
        }
    }
}

/// Reasons by number: `[code, status, text]`; number 0 is none.
fn reasons(ctx: Ctx<'_>) -> Result<Array<'_>> {
    let list = Array::new(ctx.clone())?;
    let none = std::iter::once(("", 0, "Nothing went wrong."));
    let told = Reason::ALL.iter().map(|reason| (reason.code(), reason.status(), reason.text()));
    for (at, (code, status, text)) in none.chain(told).enumerate() {
        let entry = Array::new(ctx.clone())?;
        entry.set(0, code)?;
        entry.set(1, status)?;
        entry.set(2, text)?;
        list.set(at, entry)?;
    }
    Ok(list)
}

/// Whether text may stand in a field's value: tabs and what Latin-1 can show.
fn is_value(text: String<'_>) -> Result<bool> {
    let text = text.to_cstring()?;
    // As bytes: half of a surrogate pair, which a program's text may have, is no UTF-8 and must not be read as such.
    let mut bytes = AsRef::<[u8]>::as_ref(&text).iter();
    while let Some(byte) = bytes.next() {
        let is_fine = match byte {
            b'\t' | b' '..=b'~' => true,
            // U+0080 to U+00FF.
            0xc2 | 0xc3 => bytes.next().is_some_and(|next| matches!(next, 0x80..=0xbf)),
            _ => false,
        };
        if !is_fine {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The entity tag of a body, without `W/`: its length in hexadecimal and 27 characters of its SHA-1 in base64, as npm's `etag`
/// makes it. Text is hashed as UTF-8. Undefined for anything else.
fn tag(body: Value<'_>) -> Result<Option<std::string::String>> {
    if let Some(text) = body.as_string() {
        let mut bytes = Vec::new();
        append_text(&mut bytes, text, false)?;
        return Ok(Some(tag_of(&bytes)));
    }
    let Some(array) = body.as_object().and_then(|object| object.as_typed_array::<u8>()) else { return Ok(None) };
    let mut bytes = Vec::new();
    append_bytes(&mut bytes, array);
    Ok(Some(tag_of(&bytes)))
}

pub(super) fn tag_of(bytes: &[u8]) -> std::string::String {
    use base64::Engine as _;
    let digest = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA1_FOR_LEGACY_USE_ONLY, bytes);
    let mut text = base64::engine::general_purpose::STANDARD_NO_PAD.encode(digest);
    text.truncate(27);
    format!("\"{:x}-{text}\"", bytes.len())
}
