use std::future::poll_fn;
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::task::{Poll, ready};

use leat_message::{
    BodyLimits, Ended, Exchange, Fault, Fields, Fixed, Handler, Head, Length, Name, Peer, Piece, Reason, Reply, Span,
    Step,
};
use tokio::sync::Notify;

use super::script;

/// What the handler saw, in order.
pub type Events = Arc<Mutex<Vec<Event>>>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A handler has begun with a request for this path.
    Begun(String),
    /// A handler was told that nobody waits for its reply.
    Gone(Reason),
    /// An exchange or a refusal ended.
    Ended { path: Option<String>, status: u16, reason: Option<Reason>, bytes_in: u64, bytes_out: u64 },
}

/// A handler whose behaviour is chosen by the path, with numbers in the query.
pub struct Behaviours {
    pub events: Events,
    /// Lets handlers go on that wait to be told.
    pub release: Rc<Notify>,
    pub fixed: Fixed,
    /// How refused bytes are answered; `None`: by the engine.
    pub refused: Option<&'static str>,
}

impl Handler for Behaviours {
    type Plan = (String, Vec<u64>);

    fn raw<R: Reply>(&self, request: Head<'_>, _peer: &Peer, reply: &mut R) -> Step<Self::Plan> {
        let path = String::from_utf8_lossy(request.path()).into_owned();
        let query = String::from_utf8_lossy(request.query().unwrap_or_default()).into_owned();
        let numbers: Vec<u64> = query.split(',').filter_map(|number| number.parse().ok()).collect();
        let number = numbers.first().copied().unwrap_or(0);
        match path.as_str() {
            "/fixed" => reply.fixed(&self.fixed),
            "/raw" => whole(reply, 200, Length::Known(number), &vec![b'r'; number as usize]),
            "/raw/target" => whole(reply, 200, Length::Known(query.len() as u64), query.as_bytes()),
            "/raw/stream" => whole(reply, 200, Length::Stream, b"streamed"),
            "/raw/until-close" => whole(reply, 200, Length::Close, b"until close"),
            "/raw/204" => whole(reply, 204, Length::None, b""),
            "/raw/304" => whole(reply, 304, Length::Known(17), b""),
            "/raw/none" => {
                reply.status(200);
                reply.length(Length::None);
            }
            "/raw/less" => whole(reply, 200, Length::Known(10), b"four"),
            "/raw/more" => whole(reply, 200, Length::Known(2), b"four"),
            "/raw/twice" => {
                whole(reply, 200, Length::Known(4), b"four");
                reply.body(b"four");
            }
            "/raw/nothing" => {}
            "/raw/panic" => panic!("asked for"),
            "/raw/panic-late" => {
                reply.status(200);
                reply.length(Length::Known(5));
                panic!("asked for")
            }
            "/raw/fields" => {
                let text: String =
                    request.fields().iter().map(|(_, name, value)| line(name, value)).collect::<Vec<_>>().join("\n");
                whole(reply, 200, Length::Known(text.len() as u64), text.as_bytes());
            }
            "/script" => {
                let script = request.fields().get_named(b"x-script").unwrap_or_default();
                return Step::Exchange((format!("script:{}", String::from_utf8_lossy(script)), numbers));
            }
            _ => return Step::Exchange((path, numbers)),
        }
        Step::Done
    }

    fn raw_with_body<R: Reply>(&self, request: Head<'_>, body: &[u8], peer: &Peer, reply: &mut R) -> Step<Self::Plan> {
        if request.path() != b"/raw/echo" {
            return self.raw(request, peer, reply);
        }
        reply.record().bytes_in = body.len() as u64;
        whole(reply, 200, Length::Known(body.len() as u64), body);
        Step::Done
    }

    async fn exchange<X: Exchange>(&self, plan: Self::Plan, x: &mut X) -> Result<(), Fault> {
        let (path, numbers) = plan;
        self.note(Event::Begun(path.clone()));
        let number = numbers.first().copied().unwrap_or(0);
        let size = numbers.get(1).copied().unwrap_or(1_000) as usize;
        if let Some(script) = path.strip_prefix("script:") {
            return script::run(script, x, &self.release).await;
        }
        match path.as_str() {
            "/echo" | "/raw/echo" => {
                let body = read_all(x).await?;
                head(x, 200, Length::Known(body.len() as u64));
                send_all(x, &body).await?;
                x.end(None);
            }
            "/count" => return count(x).await,
            "/limited" => {
                x.limit_body(BodyLimits { bytes_max: number, time_ms: None });
                return count(x).await;
            }
            "/limited-held" => {
                x.limit_body(BodyLimits { bytes_max: number, time_ms: None });
                self.release.notified().await;
                return count(x).await;
            }
            "/part-then-stream" => {
                poll_fn(|cx| Poll::Ready(x.poll_body(cx).map_ok(|_| ()).is_ready())).await;
                head(x, 200, Length::Stream);
                send_pattern(x, number, 9_000).await?;
                x.end(None);
            }
            "/held" => {
                self.release.notified().await;
                return count(x).await;
            }
            "/pipe" => {
                head(x, 200, Length::Stream);
                return pipe(x).await;
            }
            "/pipe/both" => {
                head(x, 200, Length::Stream);
                poll_fn(|cx| x.poll_flush(cx)).await?;
                return pipe(x).await;
            }
            "/ignore" => text(x, "ignored"),
            "/part" => {
                let piece = poll_fn(|cx| {
                    let piece = ready!(x.poll_body(cx))?;
                    Poll::Ready(Ok::<_, Reason>(if let Piece::Data(bytes) = piece { bytes.len() } else { 0 }))
                });
                piece.await?;
                x.consume(1);
                text(x, "part");
            }
            "/stream" | "/known" | "/until-close" => {
                let length = match path.as_str() {
                    "/stream" => Length::Stream,
                    "/known" => Length::Known(number),
                    _ => Length::Close,
                };
                head(x, 200, length);
                send_pattern(x, number, size).await?;
                x.end(None);
            }
            "/wait" => {
                self.release.notified().await;
                text(x, "waited");
            }
            "/gone" => {
                let release = std::pin::pin!(self.release.notified());
                let reason = gone_or(x, release).await;
                if let Some(reason) = reason {
                    self.note(Event::Gone(reason));
                    return Err(reason.into());
                }
                text(x, "still there");
            }
            "/interim" => {
                let (bytes, field) = field("link", "</a.css>; rel=preload");
                x.interim(103, Fields::new(&bytes, &[field]));
                poll_fn(|cx| x.poll_flush(cx)).await?;
                self.release.notified().await;
                text(x, "after the hint");
            }
            "/hints" => {
                let (bytes, field) = field("link", "</a.css>; rel=preload");
                for _ in 0..number {
                    x.interim(103, Fields::new(&bytes, &[field]));
                }
                text(x, "after the hints");
            }
            "/events" => {
                head(x, 200, Length::Stream);
                for event in 0..number {
                    send_all(x, format!("event {event}\n").as_bytes()).await?;
                    poll_fn(|cx| x.poll_flush(cx)).await?;
                    self.release.notified().await;
                }
                x.end(None);
            }
            "/bursts" => {
                head(x, 200, Length::Known(number * size as u64));
                for _ in 0..number {
                    send_pattern(x, size as u64, size).await?;
                    poll_fn(|cx| x.poll_flush(cx)).await?;
                    self.release.notified().await;
                }
                x.end(None);
            }
            "/trailers" => {
                head(x, 200, Length::Stream);
                send_all(x, b"body").await?;
                let (bytes, field) = field("x-sum", "42");
                x.end(Some(Fields::new(&bytes, &[field])));
            }
            "/panic" => panic!("asked for"),
            "/panic-late" => {
                head(x, 200, Length::Known(100));
                send_all(x, b"some").await?;
                poll_fn(|cx| x.poll_flush(cx)).await?;
                panic!("asked for")
            }
            "/fail" => return Err(Reason::UpstreamConnect.into()),
            "/fail-head" => {
                head(x, 200, Length::Known(100));
                send_all(x, b"some").await?;
                return Err(Reason::UpstreamReset.into());
            }
            "/fail-late" | "/fail-late/until-close" => {
                head(x, 200, if path.ends_with("close") { Length::Close } else { Length::Stream });
                send_all(x, b"some").await?;
                poll_fn(|cx| x.poll_flush(cx)).await?;
                return Err(Reason::UpstreamReset.into());
            }
            "/less" => {
                head(x, 200, Length::Known(10));
                send_all(x, b"four").await?;
                x.end(None);
            }
            "/more" => {
                head(x, 200, Length::Known(2));
                send_all(x, b"four").await?;
                x.end(None);
            }
            "/no-end" => {
                head(x, 200, Length::Stream);
                send_all(x, b"four").await?;
            }
            "/no-end/known" => {
                head(x, 200, Length::Known(4));
                send_all(x, b"four").await?;
            }
            "" if x.request().authority().starts_with(b"refused") => return Err(Reason::RouteNotFound.into()),
            // A CONNECT has no path.
            "/tunnel" | "" => {
                x.status(if x.request().method() == leat_message::Method::Connect { 200 } else { 101 });
                if x.request().version() == leat_message::Version::Http11 {
                    x.field(b"upgrade", b"shout");
                }
                x.length(Length::Tunnel);
                poll_fn(|cx| x.poll_flush(cx)).await?;
                return shout(x).await;
            }
            _ => return Err(Reason::RouteNotFound.into()),
        }
        Ok(())
    }

    fn refused(&self, reason: Reason, _peer: &Peer) -> Option<Self::Plan> {
        let script = self.refused?.replace("REASON", reason.code());
        (script != "panic!").then(|| (format!("script:{script}"), Vec::new())).or_else(|| panic!("asked for"))
    }

    fn ended(&self, ended: Ended<'_>) {
        self.note(Event::Ended {
            path: ended.request.map(|head| String::from_utf8_lossy(head.path()).into_owned()),
            status: ended.record.status,
            reason: ended.record.reason,
            bytes_in: ended.record.bytes_in,
            bytes_out: ended.record.bytes_out,
        });
    }
}

impl Behaviours {
    fn note(&self, event: Event) {
        self.events.lock().unwrap().push(event);
    }
}

/// Byte `at` of every large reply.
pub fn pattern(at: u64) -> u8 {
    (at % 251) as u8
}

fn line(name: &[u8], value: &[u8]) -> String {
    format!("{}: {}", String::from_utf8_lossy(name), String::from_utf8_lossy(value))
}

fn whole<R: Reply>(reply: &mut R, status: u16, length: Length, body: &[u8]) {
    reply.status(status);
    reply.length(length);
    reply.body(body);
}

pub fn head<X: Exchange>(x: &mut X, status: u16, length: Length) {
    x.status(status);
    x.field(b"x-test", b"yes");
    x.length(length);
}

fn text<X: Exchange>(x: &mut X, text: &str) {
    whole(x, 200, Length::Known(text.len() as u64), text.as_bytes());
}

pub fn field(name: &str, value: &str) -> (Vec<u8>, leat_message::Field) {
    let bytes = format!("{name}{value}").into_bytes();
    let field = leat_message::Field {
        id: Name::from_bytes(name.as_bytes()),
        name: Span::new(0, name.len()),
        value: Span::new(name.len(), bytes.len()),
    };
    (bytes, field)
}

/// The next piece of the body, copied; `None` at its end.
async fn piece<X: Exchange>(x: &mut X) -> Result<Option<Vec<u8>>, Reason> {
    let piece = poll_fn(|cx| {
        Poll::Ready(Ok::<_, Reason>(match ready!(x.poll_body(cx))? {
            Piece::Data(bytes) => Some(bytes.to_vec()),
            Piece::End => None,
        }))
    })
    .await?;
    x.consume(piece.as_ref().map_or(0, Vec::len));
    Ok(piece)
}

pub async fn read_all<X: Exchange>(x: &mut X) -> Result<Vec<u8>, Reason> {
    let mut body = Vec::new();
    while let Some(piece) = piece(x).await? {
        body.extend_from_slice(&piece);
    }
    Ok(body)
}

pub async fn send_all<X: Exchange>(x: &mut X, mut bytes: &[u8]) -> Result<(), Reason> {
    while !bytes.is_empty() {
        let count = poll_fn(|cx| x.poll_send(cx, bytes)).await?;
        bytes = &bytes[count..];
    }
    Ok(())
}

pub async fn send_pattern<X: Exchange>(x: &mut X, count: u64, size: usize) -> Result<(), Reason> {
    let mut sent = 0;
    while sent < count {
        let end = count.min(sent + size as u64);
        let piece: Vec<u8> = (sent..end).map(pattern).collect();
        send_all(x, &piece).await?;
        sent = end;
    }
    Ok(())
}

/// Answers with the number of body bytes, and the trailers.
async fn count<X: Exchange>(x: &mut X) -> Result<(), Fault> {
    let mut count = 0;
    while let Some(piece) = piece(x).await? {
        count += piece.len();
    }
    let trailers: Vec<String> =
        x.trailers().iter().flat_map(|fields| fields.iter()).map(|(_, name, value)| line(name, value)).collect();
    text(x, &format!("{count} {}", trailers.join(", ")));
    Ok(())
}

/// Sends the body back as it comes, both directions in one poll, as a proxy does.
async fn pipe<X: Exchange>(x: &mut X) -> Result<(), Fault> {
    let mut held: Vec<u8> = Vec::new();
    let mut ended = false;
    poll_fn(|cx| {
        loop {
            let mut moved = false;
            if held.is_empty() && !ended {
                match x.poll_body(cx) {
                    Poll::Ready(piece) => {
                        match piece? {
                            Piece::Data(bytes) => held.extend_from_slice(bytes),
                            Piece::End => ended = true,
                        }
                        x.consume(held.len());
                        moved = true;
                    }
                    Poll::Pending => {}
                }
            }
            if !held.is_empty()
                && let Poll::Ready(count) = x.poll_send(cx, &held)
            {
                held.drain(..count?);
                moved = true;
            }
            if ended && held.is_empty() {
                x.end(None);
                return Poll::Ready(Ok::<_, Reason>(()));
            }
            if !moved {
                if let Poll::Ready(flushed) = x.poll_flush(cx) {
                    flushed?;
                }
                return Poll::Pending;
            }
        }
    })
    .await?;
    Ok(())
}

/// Sends everything back in capitals, and a goodbye behind the end.
async fn shout<X: Exchange>(x: &mut X) -> Result<(), Fault> {
    while let Some(mut piece) = piece(x).await? {
        piece.make_ascii_uppercase();
        send_all(x, &piece).await?;
        poll_fn(|cx| x.poll_flush(cx)).await?;
    }
    // Somebody whose direction has ended still waits for ours.
    let gone = poll_fn(|cx| Poll::Ready(x.poll_gone(cx))).await;
    if let Poll::Ready(reason) = gone {
        return Err(reason.into());
    }
    send_all(x, b"GOODBYE").await?;
    x.end(None);
    poll_fn(|cx| x.poll_flush(cx)).await?;
    Ok(())
}

async fn gone_or<X: Exchange>(x: &mut X, mut release: std::pin::Pin<&mut impl Future<Output = ()>>) -> Option<Reason> {
    poll_fn(|cx| {
        if let Poll::Ready(reason) = x.poll_gone(cx) {
            return Poll::Ready(Some(reason));
        }
        release.as_mut().poll(cx).map(|()| None)
    })
    .await
}
