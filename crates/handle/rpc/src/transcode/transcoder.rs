use std::fmt;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use leat_message::{BodyLimits, Exchange, Fault, Head, Length, Piece, Reason, Reply};
use leat_rpc_wire::Form;
use leat_rpc_wire::rest::{BindingProblem, Bindings, Bound, Unknown};
use leat_schema::{Method, Schema};

use super::compressing::Compressing;
use super::dialect::{Dialect, Tongue};
use super::failure::{Failure, status_as};
use super::reply::{self, Refusal};
use super::transcoded::{Call, Transcoded};
use super::upload::with_overhead;

/// Knows the methods of a schema, and which requests of which protocol call them. Immutable; all cores share it.
pub struct Transcoder {
    schema: Arc<Schema>,
    bindings: Bindings,
    settings: Settings,
}

/// What is up to whoever runs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The longest message of a client, in bytes, in the client's form. What is not streamed is held, and of a stream one
    /// message at a time: this and the next bound the memory of a call to a few times as much.
    pub message_bytes_max: usize,
    /// The longest message of an upstream.
    pub reply_bytes_max: usize,
    /// What becomes of names in a REST request that are no field's.
    pub unknown: Unknown,
    /// Who gets the calls.
    pub behind: Behind,
    /// How replies are compressed which come as they are; `None`: they stay so.
    pub compressing: Option<Compressing>,
}

/// Who stands behind a transcoded exchange.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Behind {
    /// A server that speaks gRPC: what is gRPC already passes as it is.
    #[default]
    Server,
    /// A program of this process: every call comes as gRPC over HTTP/2 whose messages are neither JSON nor compressed, and says
    /// in two fields, [`PROTOCOL_FIELD`] and [`METHOD_FIELD`], how its client has made it.
    Program,
}

/// Names the client's protocol to a program: `grpc`, `grpc-web`, `connect` or `rest`. What a client sends under this name is left out.
pub const PROTOCOL_FIELD: &str = "leat-rpc-protocol";
/// The method of the client's HTTP request, by the same rules.
pub const METHOD_FIELD: &str = "leat-rpc-method";

impl Default for Settings {
    /// 4 MiB, as in gRPC's own servers, and 16 MiB for replies; unknown names are refused.
    fn default() -> Self {
        Self {
            message_bytes_max: 4 * 1024 * 1024,
            reply_bytes_max: 16 * 1024 * 1024,
            unknown: Unknown::Refuse,
            behind: Behind::Server,
            compressing: None,
        }
    }
}

impl Transcoder {
    /// Reads the schema's `google.api.http` options.
    ///
    /// # Errors
    /// All that are wrong.
    pub fn new(schema: Arc<Schema>, settings: Settings) -> Result<Self, Vec<BindingProblem>> {
        Ok(Self { bindings: Bindings::compile(&schema)?, schema, settings })
    }

    /// The schema.
    pub fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// Its bindings.
    pub fn bindings(&self) -> &Bindings {
        &self.bindings
    }

    /// The settings.
    pub fn settings(&self) -> Settings {
        self.settings
    }

    pub(super) fn method(&self, path: &[u8]) -> Option<&Method> {
        self.schema.method(std::str::from_utf8(path).ok()?)
    }

    /// Whether a request calls one of the methods, by its path. No allocation but for REST's parameters.
    pub fn knows(&self, head: Head<'_>) -> bool {
        self.method(head.path()).is_some()
            || !matches!(self.bindings.find(head.method_bytes(), head.path()), Bound::Nothing)
    }

    fn tongue(&self, head: Head<'_>) -> Tongue {
        Tongue::of(head, self.method(head.path()).is_some())
    }

    /// The protocol of a request and the path of the method that it calls, for people.
    ///
    /// # Errors
    /// It calls none.
    pub fn explain(&self, head: Head<'_>) -> Result<(&'static str, String), Reason> {
        let tongue = self.tongue(head);
        if let Tongue::Grpc(_) = tongue {
            return Ok(("gRPC", String::from_utf8_lossy(head.path()).into_owned()));
        }
        let dialect = Dialect::read(self, head, tongue).map_err(|rejected| rejected.failure.reason)?;
        let protocol = match tongue {
            Tongue::GrpcWeb(_) | Tongue::GrpcWebText(_) => "gRPC-Web",
            Tongue::Connect(_) | Tongue::ConnectStream(_) => "Connect",
            Tongue::Rest | Tongue::Grpc(_) => "REST",
        };
        Ok((protocol, dialect.method.path().to_owned()))
    }

    /// Begins a call: an exchange of gRPC around the client's own, or `None` where the client has been answered already.
    /// Requests of gRPC pass. A request that is no stream is read first, so that a wrong one never reaches the upstream.
    /// `limits` says what bounds the body, told whether the client streams. `added` are fields that every reply gets which
    /// the upstream has no part in.
    ///
    /// # Errors
    /// The client went, or its body broke a limit or the framing.
    pub async fn open<'a, X: Exchange>(
        &'a self,
        x: &'a mut X,
        limits: impl FnOnce(bool) -> BodyLimits,
        added: Added<'a>,
    ) -> Result<Option<Transcoded<'a, X>>, Fault> {
        let tongue = self.tongue(x.request());
        if tongue == Tongue::Grpc(Form::Binary) && self.settings.behind == Behind::Server {
            x.record().rpc = Some(tongue.protocol());
            return Ok(Some(Transcoded::new(x, self, tongue, None, added)));
        }
        self.begin(x, tongue, |streams| Some(limits(streams)), added).await
    }

    /// The same within the limits that the connection has set for the body; one that the client streams has no time to be
    /// whole in. For those before a program of this process.
    ///
    /// # Errors
    /// As [`Transcoder::open`].
    pub async fn open_within<'a, X: Exchange>(
        &'a self,
        x: &'a mut X,
        added: Added<'a>,
    ) -> Result<Option<Transcoded<'a, X>>, Fault> {
        let tongue = self.tongue(x.request());
        // The limits of messages bound what is held.
        let limits = |streams: bool| streams.then_some(BodyLimits { bytes_max: u64::MAX, time_ms: None });
        self.begin(x, tongue, limits, added).await
    }

    async fn begin<'a, X: Exchange>(
        &'a self,
        x: &'a mut X,
        tongue: Tongue,
        limits: impl FnOnce(bool) -> Option<BodyLimits>,
        added: Added<'a>,
    ) -> Result<Option<Transcoded<'a, X>>, Fault> {
        x.record().rpc = Some(tongue.protocol());
        let read = Dialect::read(self, x.request(), tongue);
        let streams = read.as_ref().is_ok_and(|dialect| dialect.method.client_streams());
        if let Some(limits) = limits(streams) {
            x.limit_body(limits);
        }
        let dialect = match read {
            Ok(dialect) => dialect,
            Err(rejected) => {
                x.record().reason = Some(rejected.failure.reason);
                if !matches!(x.request().length(), Length::None | Length::Known(0)) {
                    // More may be on its way than would be read off: HTTP/1 must not promise to go on behind it.
                    x.keep_alive(false);
                }
                reply::refuse(self, x, tongue, &Refusal::from(&rejected), added);
                return Ok(None);
            }
        };
        let mut call = Box::new(Call::new(self, dialect, x.request()));
        let begun = match call.is_whole() {
            true => self.read_whole(x, &mut call).await?,
            false => call.begin_stream(x.request()),
        };
        let transcoded = Transcoded::new(x, self, tongue, Some(call), added);
        match begun {
            Ok(()) => Ok(Some(transcoded)),
            Err(failure) => transcoded.fail(failure).await.map(|()| None),
        }
    }

    /// Reads a request that has one message and no envelope around it.
    async fn read_whole<X: Exchange>(&self, x: &mut X, call: &mut Call<'_>) -> Result<Result<(), Failure>, Fault> {
        let bytes_max = self.settings.message_bytes_max;
        let mut body = Vec::new();
        loop {
            let taken = poll_fn(|cx| {
                let piece = match x.poll_body(cx) {
                    Poll::Ready(piece) => piece,
                    Poll::Pending => return call.poll_deadline(cx).map(Err),
                };
                Poll::Ready(Ok(piece.map(|piece| match piece {
                    Piece::Data(bytes) => {
                        body.extend_from_slice(bytes);
                        bytes.len()
                    }
                    Piece::End => 0,
                })))
            });
            match taken.await {
                Ok(Ok(0)) => return Ok(call.whole(x.request(), &body)),
                Ok(Ok(taken)) => x.consume(taken),
                Ok(Err(Reason::LimitBodyBytes)) => return Ok(Err(Reason::LimitBodyBytes.into())),
                Ok(Err(reason)) => return Err(reason.into()),
                Err(late) => return Ok(Err(late)),
            }
            if body.len() > with_overhead(bytes_max) {
                return Ok(Err(Failure::too_long(bytes_max)));
            }
        }
    }

    /// In which protocol the client of this request is told of errors.
    pub fn voice(&self, head: Head<'_>) -> Voice {
        Voice(self.tongue(head))
    }

    /// Tells a client of a refusal in its own protocol, in place of the gateway's problem details, which have this HTTP
    /// status. `added` go with it.
    pub fn refuse<R: Reply>(&self, voice: Voice, reply: &mut R, reason: Reason, http_status: u16, added: Added<'_>) {
        reply.record().reason = Some(reason);
        reply.record().rpc = Some(voice.0.protocol());
        let status = status_as(reason, http_status);
        reply::refuse(self, reply, voice.0, &Refusal::plain(&status), added);
    }
}

/// Gives fields to who asks.
pub type Added<'a> = &'a dyn Fn(&mut dyn FnMut(&[u8], &[u8]));

/// A client's protocol, as far as errors are told in it.
#[derive(Clone, Copy, Debug)]
pub struct Voice(Tongue);

impl fmt::Debug for Transcoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transcoder").field("schema", &self.schema).field("settings", &self.settings).finish()
    }
}
