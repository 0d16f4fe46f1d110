use leat_script::{Batch, Buffer};

pub const END: u32 = 1;
pub const KEEP: u32 = 2;
pub const ACK: u32 = 4;
pub const INTERIM: u32 = 8;
pub const READS_ON: u32 = 32;

/// A batch of records from JavaScript.
#[derive(Default)]
pub struct Replies {
    words: Vec<u32>,
    text: Vec<u8>,
    buffers: Vec<Vec<u8>>,
}

impl Replies {
    pub fn new() -> Self {
        Self::default()
    }

    /// A record with the words as they are, whether they make sense or not.
    pub fn words(mut self, words: [u32; 6]) -> Self {
        self.words.extend_from_slice(&words);
        self
    }

    fn record(mut self, kind: u32, flags: u32, id: u32, text: &[u8], buffers: &[&[u8]], more: [u32; 2]) -> Self {
        self.text.extend_from_slice(text);
        self.buffers.extend(buffers.iter().map(|buffer| buffer.to_vec()));
        self.words([kind | flags << 8, id, text.len() as u32, buffers.len() as u32, more[0], more[1]])
    }

    /// A head, and the body that it announces, ending the reply.
    pub fn whole(self, exchange: u32, body: &str) -> Self {
        let head = super::head(body.len());
        self.head(exchange, END | KEEP, &head, body)
    }

    pub fn head(self, exchange: u32, flags: u32, head: &str, body: &str) -> Self {
        let status = head.get(9..12).and_then(|status| status.parse().ok()).unwrap_or(0);
        self.record(1, flags, exchange, format!("{head}{body}").as_bytes(), &[], [status, head.len() as u32])
    }

    pub fn data(self, exchange: u32, flags: u32, text: &str, buffers: &[&[u8]]) -> Self {
        self.record(2, flags, exchange, text.as_bytes(), buffers, [0, 0])
    }

    pub fn end(self, exchange: u32, flags: u32) -> Self {
        self.record(3, flags, exchange, &[], &[], [0, 0])
    }

    pub fn read(self, exchange: u32, bytes: u32) -> Self {
        self.record(4, 0, exchange, &[], &[], [bytes, 0])
    }

    pub fn abort(self, exchange: u32) -> Self {
        self.record(5, 0, exchange, &[], &[], [0, 0])
    }

    /// Cuts the exchange off by a reset.
    pub fn abort_by_reset(self, exchange: u32) -> Self {
        self.record(5, 1, exchange, &[], &[], [0, 0])
    }

    pub fn opaque(self, exchange: u32) -> Self {
        self.record(6, 0, exchange, &[], &[], [0, 0])
    }

    pub fn close(self, connection: u32) -> Self {
        self.record(7, 0, connection, &[], &[], [0, 0])
    }

    pub fn destroy(self, connection: u32) -> Self {
        self.record(8, 0, connection, &[], &[], [0, 0])
    }

    /// Cuts the connection off by a reset.
    pub fn reset(self, connection: u32) -> Self {
        self.record(8, 1, connection, &[], &[], [0, 0])
    }

    /// Begins a call: `head` has the lines of a request, `flags` may say that its body comes later.
    pub fn call(self, id: u32, flags: u32, destination: u32, head: &str, body: &[&[u8]]) -> Self {
        let lines = head.split('\n').count() as u32;
        self.record(9, flags | lines << 8, id, head.as_bytes(), body, [destination, head.len() as u32])
    }

    pub fn call_data(self, id: u32, flags: u32, buffers: &[&[u8]]) -> Self {
        self.record(10, flags, id, &[], buffers, [0, 0])
    }

    pub fn call_read(self, id: u32, bytes: u32) -> Self {
        self.record(11, 0, id, &[], &[], [bytes, 0])
    }

    pub fn call_abort(self, id: u32) -> Self {
        self.record(12, 0, id, &[], &[], [0, 0])
    }

    pub fn hang_up(self, client: u32) -> Self {
        self.record(13, 0, client, &[], &[], [0, 0])
    }

    /// Writes it all to a batch, as the addon does.
    pub fn fill(self, batch: &mut Batch) {
        batch.words.extend_from_slice(&self.words);
        batch.bytes.extend_from_slice(&self.text);
        batch.text_bytes = self.text.len();
        for buffer in &self.buffers {
            batch.bytes.extend_from_slice(buffer);
            batch.buffers.push(Buffer::Copied(buffer.len()));
        }
    }
}
