//! A client's view of a connection: the interim responses and the final one.

use leat_h1::{
    BodyDecoder, Decoded, DecoderLimits, Length, Method, Profile, Progress, Reason, ResponseHead, ResponseLimits,
    ResponseLines, Version, parse_response,
};
use serde_json::{Map, Value, json};

use crate::case::{Case, pairs, refusal, text};

pub(crate) fn run(case: &Case, pieces: &[&[u8]], profile: Profile) -> Vec<Value> {
    let mut exchange = Exchange {
        method: Method::from_bytes(case.method.as_bytes()),
        limits: DecoderLimits { body_bytes_max: u64::MAX, ..DecoderLimits::new(&leat_h1::Limits::default(), profile) },
        input: Vec::new(),
        progress: Progress::default(),
        state: State::Head,
        outcome: Vec::new(),
    };
    for piece in pieces {
        exchange.input.extend_from_slice(piece);
        exchange.advance();
    }
    exchange.finish(case.eof)
}

struct Exchange {
    method: Method,
    limits: DecoderLimits,
    input: Vec<u8>,
    progress: Progress,
    state: State,
    outcome: Vec<Value>,
}

enum State {
    Head,
    Body { response: Map<String, Value>, decoder: BodyDecoder, data: Vec<u8> },
    Final,
    Refused,
}

impl Exchange {
    fn advance(&mut self) {
        loop {
            match self.step() {
                Ok(true) => {}
                Ok(false) => return,
                Err(reason) => {
                    self.outcome.push(refusal(reason));
                    self.state = State::Refused;
                    return;
                }
            }
        }
    }

    fn step(&mut self) -> Result<bool, Reason> {
        match std::mem::replace(&mut self.state, State::Refused) {
            State::Head => self.head(),
            State::Body { response, mut decoder, mut data } => {
                let (more, done) = match decoder.decode(&self.input)? {
                    Decoded::Data { skip, data: count } => {
                        data.extend_from_slice(&self.input[skip..skip + count]);
                        decoder.consumed(count);
                        self.input.drain(..skip + count);
                        (true, false)
                    }
                    Decoded::More { skip } => {
                        assert_eq!(skip, self.input.len());
                        self.input.clear();
                        (false, false)
                    }
                    Decoded::End { skip } => {
                        self.input.drain(..skip);
                        (true, true)
                    }
                };
                if done {
                    self.complete(response, &decoder, &data);
                } else {
                    self.state = State::Body { response, decoder, data };
                }
                Ok(more)
            }
            end @ (State::Final | State::Refused) => {
                self.state = end;
                Ok(false)
            }
        }
    }

    fn head(&mut self) -> Result<bool, Reason> {
        let mut lines = ResponseLines::default();
        let limits = ResponseLimits::default();
        let parsed = parse_response(&self.input, &mut self.progress, &limits, self.method, &mut lines)?;
        let Some(len) = parsed else {
            self.state = State::Head;
            return Ok(false);
        };
        let response = describe(ResponseHead::new(&self.input, &lines), &lines);
        self.input.drain(..len);
        self.progress = Progress::default();
        if lines.length == Length::Tunnel {
            self.complete(response, &BodyDecoder::new(Length::None, self.limits), b"");
        } else {
            let decoder = BodyDecoder::new(lines.length, self.limits);
            self.state = State::Body { response, decoder, data: Vec::new() };
        }
        Ok(true)
    }

    fn complete(&mut self, mut response: Map<String, Value>, decoder: &BodyDecoder, data: &[u8]) {
        let interim = (100..=199).contains(&response["status"].as_u64().unwrap()) && response["status"] != 101;
        response.insert("body".to_owned(), text(data));
        response.insert("trailers".to_owned(), decoder.trailers().map_or(json!([]), pairs));
        self.outcome.push(json!({ "accept": response }));
        self.state = if interim { State::Head } else { State::Final };
    }

    fn finish(mut self, eof: bool) -> Vec<Value> {
        match std::mem::replace(&mut self.state, State::Refused) {
            State::Head if eof => self.outcome.push(refusal(Reason::HeadCutOff)),
            State::Body { response, mut decoder, data } if eof => match decoder.end_of_input() {
                Ok(()) => self.complete(response, &decoder, &data),
                Err(reason) => self.outcome.push(refusal(reason)),
            },
            State::Head | State::Body { .. } => self.outcome.push(json!({"incomplete": true})),
            State::Final if !self.input.is_empty() => self.outcome.push(json!({"rest": text(&self.input)})),
            State::Final | State::Refused => {}
        }
        self.outcome
    }
}

fn describe(head: ResponseHead<'_>, lines: &ResponseLines) -> Map<String, Value> {
    let version = if lines.version == Version::Http10 { "1.0" } else { "1.1" };
    let response = json!({
        "status": head.status(),
        "reason": text(head.reason()),
        "version": version,
        "fields": pairs(head.fields()),
        "keep_alive": lines.keep_alive,
        "tunnel": lines.length == Length::Tunnel,
    });
    response.as_object().unwrap().clone()
}
