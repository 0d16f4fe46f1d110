//! A scripted collector of OTLP/HTTP, which keeps what it takes.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use flate2::read::GzDecoder;
use leat_testkit::eventually;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::metrics::v1::Metric;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;

/// The bytes of an answer that takes the message.
pub(crate) const TAKEN: &str = "HTTP/1.1 200 OK\r\ncontent-type: application/x-protobuf\r\ncontent-length: 0\r\n\r\n";

/// A message that was taken or refused.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    /// Request line and fields, in lower case.
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

/// Listens until the test ends. Each answer is used once, in their order, the last one for ever; an empty one is silence.
pub(crate) struct Collector {
    address: SocketAddr,
    received: Arc<Mutex<Vec<Received>>>,
}

impl Collector {
    pub(crate) fn start(answers: impl IntoIterator<Item = &'static str>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let received: Arc<Mutex<Vec<Received>>> = Arc::default();
        let answers: Arc<Mutex<Vec<&'static str>>> = Arc::new(Mutex::new(answers.into_iter().collect()));
        let kept = Arc::clone(&received);
        std::thread::spawn(move || {
            for connection in listener.incoming().map_while(Result::ok) {
                let (kept, answers) = (Arc::clone(&kept), Arc::clone(&answers));
                std::thread::spawn(move || serve(connection, &kept, &answers));
            }
        });
        Self { address, received }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap().clone()
    }

    /// Every span that came so far.
    pub(crate) fn spans(&self) -> Vec<Span> {
        let traces = self.received().into_iter().filter(|one| one.head.starts_with("post /v1/traces "));
        let messages = traces.map(|one| ExportTraceServiceRequest::decode(&one.body[..]).unwrap());
        let processes = messages.flat_map(|message| message.resource_spans);
        processes.flat_map(|process| process.scope_spans).flat_map(|scope| scope.spans).collect()
    }

    /// Waits for so many spans.
    pub(crate) fn wait_spans(&self, count: usize) -> Vec<Span> {
        eventually("spans arrive", || Some(self.spans()).filter(|spans| spans.len() >= count))
    }

    /// Waits for a metric in any message of numbers.
    pub(crate) fn wait_metric(&self, wanted: impl Fn(&Metric) -> bool) -> Metric {
        eventually("a metric arrives", || {
            let numbers = self.received().into_iter().filter(|one| one.head.starts_with("post /v1/metrics "));
            let messages = numbers.map(|one| ExportMetricsServiceRequest::decode(&one.body[..]).unwrap());
            let scopes = messages.flat_map(|message| message.resource_metrics).flat_map(|of| of.scope_metrics);
            scopes.flat_map(|scope| scope.metrics).find(|metric| wanted(metric))
        })
    }
}

/// The value of a span's attribute as text.
pub(crate) fn attribute(span: &Span, key: &str) -> Option<String> {
    let found = span.attributes.iter().find(|attribute| attribute.key == key)?;
    match found.value.as_ref()?.value.as_ref()? {
        Value::StringValue(text) => Some(text.clone()),
        Value::IntValue(number) => Some(number.to_string()),
        other => panic!("{other:?}"),
    }
}

fn serve(mut connection: TcpStream, kept: &Mutex<Vec<Received>>, answers: &Mutex<Vec<&'static str>>) {
    let mut bytes = Vec::new();
    let mut block = [0; 4096];
    loop {
        let end = bytes.windows(4).position(|window| window == b"\r\n\r\n").map(|at| at + 4);
        let length = end.map(|end| {
            let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse::<usize>().ok());
            (end, head, length.unwrap())
        });
        match length {
            Some((end, head, length)) if bytes.len() >= end + length => {
                let packed = bytes[end..end + length].to_vec();
                bytes.drain(..end + length);
                let body = if head.contains("content-encoding: gzip") {
                    let mut body = Vec::new();
                    GzDecoder::new(&packed[..]).read_to_end(&mut body).unwrap();
                    body
                } else {
                    packed
                };
                let answer = {
                    let mut answers = answers.lock().unwrap();
                    if answers.len() > 1 { answers.remove(0) } else { answers[0] }
                };
                if answer.is_empty() {
                    kept.lock().unwrap().push(Received { head, body });
                    std::thread::sleep(Duration::from_secs(60));
                    return;
                }
                let is_taken = answer == TAKEN;
                if is_taken || answer.starts_with("HTTP/1.1 4") {
                    kept.lock().unwrap().push(Received { head, body });
                }
                if connection.write_all(answer.as_bytes()).is_err() || !is_taken {
                    return;
                }
            }
            _ => match connection.read(&mut block) {
                Ok(count) if count > 0 => bytes.extend_from_slice(&block[..count]),
                _ => return,
            },
        }
    }
}
