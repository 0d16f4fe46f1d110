//! The service: each request says what it wants to be answered, and is told what was seen of it.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use leat_message::Step;
use leat_rpc::{Answer, Call, Conversation, Message, Outcome, Service};
use leat_rpc_wire::{Code, Detail, Metadata, Status, binary_value};
use leat_schema::{Method, Schema};

use crate::message::{Fields, put, put_number};

pub(crate) struct Conformance {
    schema: Arc<Schema>,
}

impl Conformance {
    pub(crate) fn new(schema: Arc<Schema>) -> Self {
        Self { schema }
    }
}

/// What a response definition asks for, of unary calls and of streams (`service.proto`).
#[derive(Default)]
struct Wanted {
    headers: Metadata,
    trailers: Metadata,
    data: Vec<Vec<u8>>,
    error: Option<Status>,
    delay: Duration,
}

impl Wanted {
    fn unary(definition: &[u8]) -> Self {
        let fields = Fields::read(definition);
        // A unary response without data is a response all the same.
        let data = vec![fields.bytes(2).unwrap_or_default().to_vec()];
        Self::new(&fields, data, fields.bytes(3), 4, 6)
    }

    fn stream(definition: &[u8]) -> Self {
        let fields = Fields::read(definition);
        let data = fields.all(2).map(<[u8]>::to_vec).collect();
        Self::new(&fields, data, fields.bytes(4), 5, 3)
    }

    fn new(fields: &Fields<'_>, data: Vec<Vec<u8>>, error: Option<&[u8]>, trailers: u32, delay: u32) -> Self {
        Self {
            headers: metadata(fields.all(1)),
            trailers: metadata(fields.all(trailers)),
            data,
            error: error.map(status),
            delay: Duration::from_millis(fields.number(delay).unwrap_or_default()),
        }
    }

    fn outcome(&self, request_info: Option<&[u8]>) -> Outcome {
        let mut status = self.error.clone().unwrap_or(Status::OK);
        if let Some(info) = request_info.filter(|_| self.error.is_some()) {
            let type_name = "connectrpc.conformance.v1.ConformancePayload.RequestInfo".to_owned();
            status.details.push(Detail { type_name, value: Bytes::copy_from_slice(info) });
        }
        Outcome { status, trailers: self.trailers.clone() }
    }
}

fn metadata<'a>(headers: impl Iterator<Item = &'a [u8]>) -> Metadata {
    let mut metadata = Metadata::new();
    for header in headers.map(Fields::read) {
        let name = header.text(1);
        for value in header.all(2) {
            match Metadata::is_binary(&name) {
                true => metadata.push(&name, &binary_value::decode(value).unwrap_or_default()),
                false => metadata.push(&name, value),
            }
        }
    }
    metadata
}

fn status(error: &[u8]) -> Status {
    let error = Fields::read(error);
    let code = error.number(1).and_then(|code| Code::from_number(code as u32)).unwrap_or(Code::Unknown);
    let details = error.all(3).map(Fields::read).map(|any| Detail {
        type_name: any.text(1).rsplit('/').next().unwrap_or_default().to_owned(),
        value: Bytes::copy_from_slice(any.bytes(2).unwrap_or_default()),
    });
    Status { code, message: error.text(2), details: details.collect() }
}

/// What was seen of the request: `ConformancePayload.RequestInfo`, without its head if it was told before.
fn request_info(call: &Call<'_>, with_head: bool, requests: &[Vec<u8>]) -> Vec<u8> {
    let mut info = Vec::new();
    if with_head {
        put_headers(1, call.metadata.iter(), &mut info);
        if let Some(timeout) = call.timeout {
            put_number(2, timeout.as_millis() as u64, &mut info);
        }
    }
    for request in requests {
        let mut any = Vec::new();
        put(1, format!("type.googleapis.com/{}", call.method.input().full_name()).as_bytes(), &mut any);
        put(2, request, &mut any);
        put(3, &any, &mut info);
    }
    if let Some(query) = call.get_query.filter(|_| with_head) {
        let mut get = Vec::new();
        let pairs = query.split(|&byte| byte == b'&').map(|pair| {
            let mut parts = pair.splitn(2, |&byte| byte == b'=');
            (parts.next().unwrap_or_default(), parts.next().unwrap_or_default())
        });
        put_headers(1, pairs, &mut get);
        put(4, &get, &mut info);
    }
    info
}

/// Each name once, with all its values.
fn put_headers<'a>(field: u32, pairs: impl Iterator<Item = (&'a [u8], &'a [u8])>, out: &mut Vec<u8>) {
    let mut headers: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
    for (name, value) in pairs {
        let index = headers.iter().position(|(found, _)| found.eq_ignore_ascii_case(name)).unwrap_or_else(|| {
            let mut header = Vec::new();
            put(1, name, &mut header);
            headers.push((name.to_vec(), header));
            headers.len() - 1
        });
        put(2, value, &mut headers[index].1);
    }
    headers.iter().for_each(|(_, header)| put(field, header, out));
}

/// Every response has a `ConformancePayload` as its field 1.
fn response(data: &[u8], info: Option<&[u8]>) -> Vec<u8> {
    let (mut payload, mut response) = (Vec::new(), Vec::new());
    put(1, data, &mut payload);
    if let Some(info) = info {
        put(2, info, &mut payload);
    }
    put(1, &payload, &mut response);
    response
}

impl Service for Conformance {
    type Plan = ();

    fn method(&self, path: &str) -> Option<&Method> {
        self.schema.method(path)
    }

    fn whole<A: Answer>(&self, call: &Call<'_>, request: Message<'_>, answer: &mut A) -> Step<()> {
        if call.method.name() == "Unimplemented" {
            answer.fail(&unimplemented());
            return Step::Done;
        }
        let mut room = Vec::new();
        let request = match request.request_binary(call.method, &mut room) {
            Ok(request) => request.to_vec(),
            Err(status) => {
                answer.fail(&status);
                return Step::Done;
            }
        };
        let wanted = Wanted::unary(Fields::read(&request).bytes(1).unwrap_or_default());
        if !wanted.delay.is_zero() {
            return Step::Exchange(());
        }
        let info = request_info(call, true, &[request]);
        wanted.headers.iter().for_each(|(name, value)| answer.header(name, value));
        wanted.trailers.iter().for_each(|(name, value)| answer.trailer(name, value));
        match wanted.error {
            None => answer.message(Message::binary(&response(&wanted.data[0], Some(&info)))),
            Some(_) => answer.fail(&wanted.outcome(Some(&info)).status),
        }
        Step::Done
    }

    async fn converse<C: Conversation>(&self, _plan: Option<()>, conversation: &mut C) -> Outcome {
        let method = conversation.call().method.name().to_owned();
        let result = match &*method {
            "Unary" | "IdempotentUnary" | "ClientStream" => gather(conversation).await,
            "ServerStream" | "BidiStream" => stream(conversation).await,
            _ => Err(unimplemented()),
        };
        result.unwrap_or_else(Outcome::from)
    }
}

fn unimplemented() -> Status {
    Status::new(Code::Unimplemented, "ConformanceService.Unimplemented is not implemented")
}

/// The next request in binary form.
async fn next<C: Conversation>(conversation: &mut C) -> Result<Option<Vec<u8>>, Status> {
    if !conversation.receive().await? {
        return Ok(None);
    }
    let mut room = Vec::new();
    let request = conversation.message().request_binary(conversation.call().method, &mut room)?;
    Ok(Some(request.to_vec()))
}

/// All requests, then one response.
async fn gather<C: Conversation>(conversation: &mut C) -> Result<Outcome, Status> {
    let mut requests = Vec::new();
    while let Some(request) = next(conversation).await? {
        requests.push(request);
    }
    let first = requests.first().map(|request| Fields::read(request));
    let wanted = Wanted::unary(first.and_then(|first| first.bytes(1)).unwrap_or_default());
    let info = request_info(&conversation.call(), true, &requests);
    wanted.headers.iter().for_each(|(name, value)| conversation.header(name, value));
    tokio::time::sleep(wanted.delay).await;
    if wanted.error.is_none() {
        conversation.send(Message::binary(&response(&wanted.data[0], Some(&info))))?;
    }
    Ok(wanted.outcome(Some(&info)))
}

/// One or more requests, and a stream of responses: while they come (full duplex), or behind them.
async fn stream<C: Conversation>(conversation: &mut C) -> Result<Outcome, Status> {
    let is_bidi = conversation.call().method.client_streams();
    let (mut wanted, mut full_duplex, mut sent) = (None::<Wanted>, false, 0);
    let mut requests = Vec::new();
    while let Some(request) = next(conversation).await? {
        if wanted.is_none() {
            let fields = Fields::read(&request);
            let first = Wanted::stream(fields.bytes(1).unwrap_or_default());
            full_duplex = is_bidi && fields.number(2) == Some(1);
            first.headers.iter().for_each(|(name, value)| conversation.header(name, value));
            if full_duplex && !first.data.is_empty() {
                conversation.send_headers();
            }
            wanted = Some(first);
        }
        requests.push(request);
        if let Some(wanted) = wanted.as_ref().filter(|_| full_duplex) {
            let Some(data) = wanted.data.get(sent) else { break };
            let info = request_info(&conversation.call(), sent == 0, &std::mem::take(&mut requests));
            tokio::time::sleep(wanted.delay).await;
            conversation.room().await?;
            conversation.send(Message::binary(&response(data, Some(&info))))?;
            sent += 1;
        }
    }
    let wanted = wanted.unwrap_or_default();
    if sent == 0 && !wanted.data.is_empty() {
        conversation.send_headers();
    }
    let info = request_info(&conversation.call(), true, &requests);
    for (index, data) in wanted.data.iter().enumerate().skip(sent) {
        tokio::time::sleep(wanted.delay).await;
        conversation.room().await?;
        conversation.send(Message::binary(&response(data, (index == 0).then_some(&*info))))?;
    }
    Ok(wanted.outcome(wanted.data.is_empty().then_some(&*info)))
}
