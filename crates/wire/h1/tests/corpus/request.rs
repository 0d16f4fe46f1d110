//! A server's view of a connection: requests and their bodies, one after the other.

use leat_h1::{
    BodyDecoder, Decoded, DecoderLimits, Head, Limits, Method, Profile, Progress, Reason, RequestLines, Version,
    parse_request,
};
use serde_json::{Map, Value, json};

use crate::case::{Case, pairs, refusal, text};

pub(crate) fn run(case: &Case, pieces: &[&[u8]], profile: Profile) -> Vec<Value> {
    let mut connection = Connection::new(profile);
    for piece in pieces {
        connection.input.extend_from_slice(piece);
        connection.advance();
        if connection.ended {
            return connection.outcome;
        }
    }
    connection.finish(case.eof)
}

struct Connection {
    profile: Profile,
    limits: Limits,
    input: Vec<u8>,
    progress: Progress,
    lines: RequestLines,
    body: Option<Body>,
    outcome: Vec<Value>,
    ended: bool,
}

struct Body {
    request: Map<String, Value>,
    decoder: BodyDecoder,
    data: Vec<u8>,
}

impl Connection {
    fn new(profile: Profile) -> Self {
        Self {
            profile,
            limits: Limits::default(),
            input: Vec::new(),
            progress: Progress::default(),
            lines: RequestLines::default(),
            body: None,
            outcome: Vec::new(),
            ended: false,
        }
    }

    fn advance(&mut self) {
        while !self.ended {
            let progressed = match self.body.take() {
                None => self.head(),
                Some(body) => self.body(body),
            };
            match progressed {
                Ok(true) => {}
                Ok(false) => return,
                Err(reason) => {
                    self.outcome.push(refusal(reason));
                    self.ended = true;
                }
            }
        }
    }

    fn head(&mut self) -> Result<bool, Reason> {
        let parsed = parse_request(&self.input, &mut self.progress, self.profile, &self.limits, &mut self.lines)?;
        let Some(len) = parsed else { return Ok(false) };
        let head = Head::new(&self.input, &self.lines);
        let decoder = BodyDecoder::new(self.lines.length, DecoderLimits::new(&self.limits, self.profile));
        self.body = Some(Body { request: describe(head), decoder, data: Vec::new() });
        self.input.drain(..len);
        self.progress = Progress::default();
        Ok(true)
    }

    fn body(&mut self, mut body: Body) -> Result<bool, Reason> {
        match body.decoder.decode(&self.input)? {
            Decoded::Data { skip, data } => {
                body.data.extend_from_slice(&self.input[skip..skip + data]);
                body.decoder.consumed(data);
                self.input.drain(..skip + data);
                self.body = Some(body);
                Ok(true)
            }
            Decoded::More { skip } => {
                assert_eq!(skip, self.input.len());
                self.input.clear();
                self.body = Some(body);
                Ok(false)
            }
            Decoded::End { skip } => {
                self.input.drain(..skip);
                self.complete(body);
                Ok(true)
            }
        }
    }

    fn complete(&mut self, body: Body) {
        let mut request = body.request;
        request.insert("body".to_owned(), text(&body.data));
        request.insert("trailers".to_owned(), body.decoder.trailers().map_or(json!([]), pairs));
        self.outcome.push(json!({ "accept": request }));
        self.ended = !self.lines.keep_alive || self.lines.method == Method::Connect;
    }

    fn finish(mut self, eof: bool) -> Vec<Value> {
        let rest = match (&mut self.body, eof) {
            (Some(body), true) => body.decoder.end_of_input().err().map(refusal),
            (None, true) if self.progress.has_begun() => Some(refusal(Reason::HeadCutOff)),
            (None, true) => None,
            (Some(_), false) => Some(json!({"incomplete": true})),
            (None, false) if self.input.is_empty() => None,
            (None, false) => Some(json!({"incomplete": true})),
        };
        self.outcome.extend(rest);
        self.outcome
    }
}

fn describe(head: Head<'_>) -> Map<String, Value> {
    let version = if head.version() == Version::Http10 { "1.0" } else { "1.1" };
    let request = json!({
        "method": text(head.method_bytes()),
        "target": text(head.target()),
        "path": text(head.path()),
        "query": head.query().map_or(Value::Null, text),
        "authority": text(head.authority()),
        "version": version,
        "fields": pairs(head.fields()),
        "keep_alive": head.lines().keep_alive,
        "expect_continue": head.lines().expect_continue,
        "upgrade": head.lines().upgrade,
    });
    request.as_object().unwrap().clone()
}
