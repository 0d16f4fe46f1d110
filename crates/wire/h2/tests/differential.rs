//! HPACK beside that of the h2 crate, over a connection of its client: what that encodes is decoded as what was sent, and
//! what is encoded for it arrives, with the tables of both sides at several sizes.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response};
use leat_h2::hpack::{Decoder, Encoder, Sensitivity, TABLE_BYTES_INITIAL};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const REQUESTS: u64 = 300;
const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const ACK: u8 = 1;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;
const HEADER_TABLE_SIZE: u16 = 1;
const NAMES: [&str; 8] =
    ["x-a", "content-type", "authorization", "cookie", "user-agent", "x-quite-a-long-name", "etag", "grpc-timeout"];

/// SplitMix64 (Steele, Lea, Flood 2014): small, and the same everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }

    fn value(&mut self) -> HeaderValue {
        let text: Vec<u8> = match self.below(4) {
            0 => (0..self.below(200)).map(|_| b'!' + self.below(94) as u8).collect(),
            1 => (0..self.below(40)).map(|_| 0x80 + self.below(128) as u8).collect(),
            _ => self.below(5).to_string().into_bytes(),
        };
        let mut value = HeaderValue::from_bytes(&text).unwrap();
        value.set_sensitive(self.below(10) == 0);
        value
    }

    fn fields(&mut self) -> HeaderMap {
        let mut fields = HeaderMap::new();
        for _ in 0..self.below(12) {
            let name = NAMES[self.below(NAMES.len() as u64) as usize];
            fields.append(HeaderName::from_static(name), self.value());
        }
        fields
    }
}

type Field = (Vec<u8>, Vec<u8>);

fn sorted(fields: &HeaderMap) -> Vec<Field> {
    let mut list: Vec<Field> =
        fields.iter().map(|(name, value)| (name.as_str().into(), value.as_bytes().into())).collect();
    list.sort();
    list
}

/// The server's end: frames by hand, fields by the codec that is tested.
struct Server {
    socket: DuplexStream,
    decoder: Decoder,
    encoder: Encoder,
    table_bytes_max: u32,
}

impl Server {
    async fn send(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
        let len = (payload.len() as u32).to_be_bytes();
        let head = [&len[1..], &[kind, flags], &stream.to_be_bytes()].concat();
        self.socket.write_all(&[&head, payload].concat()).await.unwrap();
    }

    async fn begin(&mut self) {
        let mut preface = [0; PREFACE.len()];
        self.socket.read_exact(&mut preface).await.unwrap();
        assert_eq!(preface, PREFACE);
        let setting = [&HEADER_TABLE_SIZE.to_be_bytes()[..], &self.table_bytes_max.to_be_bytes()].concat();
        self.send(SETTINGS, 0, 0, &setting).await;
    }

    /// The next request's stream and fields, and how many of them are never to be indexed.
    async fn request(&mut self) -> (u32, Vec<Field>, usize) {
        loop {
            let mut head = [0; 9];
            self.socket.read_exact(&mut head).await.unwrap();
            let mut payload = vec![0; u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize];
            self.socket.read_exact(&mut payload).await.unwrap();
            match (head[3], head[4]) {
                (SETTINGS, ACK) => self.decoder.set_table_bytes_max(self.table_bytes_max),
                (SETTINGS, _) => {
                    for setting in payload.chunks_exact(6).filter(|setting| setting[..2] == [0, 1]) {
                        self.encoder.set_table_bytes_max(u32::from_be_bytes(setting[2..].try_into().unwrap()));
                    }
                    self.send(SETTINGS, ACK, 0, &[]).await;
                }
                (HEADERS, flags) => {
                    assert_eq!(flags, END_HEADERS | END_STREAM);
                    let stream = u32::from_be_bytes(head[5..].try_into().unwrap());
                    let (fields, secret) = self.decoded(&payload);
                    return (stream, fields, secret);
                }
                _ => {}
            }
        }
    }

    fn decoded(&mut self, block: &[u8]) -> (Vec<Field>, usize) {
        let (mut fields, mut secret) = (Vec::new(), 0);
        let mut field = |name: &[u8], value: &[u8], sensitivity| {
            if !name.starts_with(b":") {
                fields.push((name.to_vec(), value.to_vec()));
            }
            secret += usize::from(sensitivity == Sensitivity::NeverIndexed);
        };
        self.decoder.decode(block, usize::MAX, &mut field).unwrap();
        fields.sort();
        (fields, secret)
    }

    async fn reply(&mut self, stream: u32, status: u16, fields: &HeaderMap) {
        let mut block = Vec::new();
        self.encoder.status(&mut block, status);
        for (name, value) in fields {
            if value.is_sensitive() {
                self.encoder.secret(&mut block, name.as_str().as_bytes(), value.as_bytes());
            } else {
                self.encoder.field(&mut block, name.as_str().as_bytes(), value.as_bytes());
            }
        }
        self.send(HEADERS, END_HEADERS | END_STREAM, stream, &block).await;
    }
}

struct Exchange {
    sent: HeaderMap,
    status: u16,
    answered: HeaderMap,
}

/// One connection: what the server's setting and the client's allow each other's tables.
async fn connection(server_bytes: u32, client_bytes: u32) {
    let (near, far) = duplex(1 << 16);
    let mut random = Random(u64::from(server_bytes) << 32 | u64::from(client_bytes));
    let mut exchange =
        || Exchange { sent: random.fields(), status: 200 + random.below(300) as u16, answered: random.fields() };
    let plan: Vec<Exchange> = (0..REQUESTS).map(|_| exchange()).collect();
    let serving = async {
        let (decoder, encoder) = (Decoder::new(TABLE_BYTES_INITIAL), Encoder::new());
        let mut server = Server { socket: far, decoder, encoder, table_bytes_max: server_bytes };
        server.begin().await;
        let mut secrets = 0;
        for planned in &plan {
            let (stream, found, secret) = server.request().await;
            assert_eq!(found, sorted(&planned.sent));
            secrets += secret;
            server.reply(stream, planned.status, &planned.answered).await;
        }
        // Not all that are sensitive: the h2 crate has some of them in its table all the same.
        assert!(secrets > REQUESTS as usize / 4, "{secrets} fields were never to be indexed");
        // Open until the client has read its last reply.
        server
    };
    let calling = async {
        let mut builder = h2::client::Builder::new();
        let (mut client, running) = builder.header_table_size(client_bytes).handshake::<_, Bytes>(near).await.unwrap();
        let running = tokio::spawn(running);
        for planned in &plan {
            let mut request = Request::get("http://leat.test/path").body(()).unwrap();
            *request.headers_mut() = planned.sent.clone();
            client = client.ready().await.unwrap();
            let reply: Response<_> = client.send_request(request, true).unwrap().0.await.unwrap();
            assert_eq!(reply.status().as_u16(), planned.status);
            assert_eq!(sorted(reply.headers()), sorted(&planned.answered));
        }
        running.abort();
    };
    let (_server, ()) = tokio::join!(serving, calling);
}

#[test]
fn the_h2_crate_and_this_one_understand_each_other() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    for server_bytes in [4_096, 0, 100, 65_536] {
        for client_bytes in [4_096, 0, 100, 65_536] {
            runtime.block_on(connection(server_bytes, client_bytes));
        }
    }
}
