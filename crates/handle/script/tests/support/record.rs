/// A record to JavaScript, decoded. Every offset and length is held against the record that it stands in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    Request {
        flags: u32,
        exchange: u32,
        connection: u32,
        method: u32,
        minor: u32,
        target: String,
        head: String,
        length: u32,
        fields: Vec<(u32, String, String)>,
    },
    Data {
        exchange: u32,
        bytes: Vec<u8>,
    },
    End {
        exchange: u32,
        trailers: Vec<(String, String)>,
    },
    Gone {
        exchange: u32,
        reason: u32,
    },
    Open {
        flags: u32,
        connection: u32,
        server: u32,
        remote_port: u32,
        local_port: u32,
        remote: String,
        local: String,
        server_name: String,
        alpn: String,
    },
    Closed {
        connection: u32,
        reason: u32,
    },
    Writable {
        exchange: u32,
    },
    Fault {
        exchange: u32,
        connection: u32,
        reason: u32,
        bytes: Vec<u8>,
    },
    Eof {
        exchange: u32,
    },
    Unshaken {
        server: u32,
        ports: (u32, u32),
        remote: String,
        local: String,
        code: String,
        words: String,
    },
    Response {
        call: u32,
        whole: bool,
        status: u32,
        fields: Vec<(u32, String, String)>,
        body: Vec<u8>,
    },
    CallData {
        call: u32,
        bytes: Vec<u8>,
    },
    CallEnd {
        call: u32,
    },
    CallFailed {
        call: u32,
        failure: u32,
        reason: u32,
        detail: u32,
    },
    CallWritable {
        call: u32,
    },
    Part {
        exchange: u32,
        total: u32,
        at: u32,
        words: Vec<u32>,
    },
}

/// A record's memory within its slab.
struct View<'a> {
    slab: &'a [u32],
    from: usize,
    to: usize,
}

impl View<'_> {
    fn word(&self, index: usize) -> u32 {
        assert!(self.from + index < self.to, "word {index} is outside of the record");
        self.slab[self.from + index]
    }

    fn bytes(&self, at: u32, len: u32) -> Vec<u8> {
        let (at, len) = (at as usize, len as usize);
        assert!(at >= self.from * 4 && at + len <= self.to * 4, "bytes {at}+{len} are outside of the record");
        let bytes = self.slab.iter().flat_map(|word| word.to_le_bytes());
        bytes.skip(at).take(len).collect()
    }

    fn text(&self, at: u32, len: u32) -> String {
        String::from_utf8(self.bytes(at, len)).unwrap()
    }

    fn fields(&self, at: usize, count: usize) -> Vec<(u32, String, String)> {
        let field = |index: usize| {
            let word = |offset: usize| self.word(at + index * 4 + offset);
            (word(1) >> 16, self.text(word(0), word(1) & 0xffff), self.text(word(2), word(3)))
        };
        (0..count).map(field).collect()
    }
}

/// The records between two bytes of a slab.
pub fn decode(slab: &[u32], from: u32, to: u32) -> Vec<Record> {
    assert!(from.is_multiple_of(4) && to.is_multiple_of(4), "{from} to {to}: records begin at words");
    let (mut at, end) = (from as usize / 4, to as usize / 4);
    let mut records = Vec::new();
    while at < end {
        let len = slab[at + 1] as usize;
        assert!(len >= 3 && at + len <= end, "a record of {len} words at {at} of {end}");
        records.push(one(&View { slab, from: at, to: at + len }));
        at += len;
    }
    records
}

fn one(view: &View<'_>) -> Record {
    let (kind, flags) = (view.word(0) & 0xff, view.word(0) >> 8);
    let word = |index| view.word(index);
    match kind {
        1 => Record::Request {
            flags,
            exchange: word(2),
            connection: word(3),
            method: word(4) & 0xff,
            minor: word(4) >> 24,
            target: view.text(word(5), word(6)),
            head: view.text(word(7), word(8)),
            length: word(9),
            fields: view.fields(10, (word(4) >> 8 & 0xffff) as usize),
        },
        2 => Record::Data { exchange: word(2), bytes: view.bytes(word(3), word(4)) },
        3 => {
            let trailers = view.fields(4, word(3) as usize);
            Record::End {
                exchange: word(2),
                trailers: trailers.into_iter().map(|(_, name, value)| (name, value)).collect(),
            }
        }
        4 => Record::Gone { exchange: word(2), reason: word(3) },
        5 => {
            let lengths = [7, 8, 9, 10].map(word);
            let mut at = word(6);
            let [remote, local, server_name, alpn] = lengths.map(|len| {
                let text = view.text(at, len);
                at += len;
                text
            });
            Record::Open {
                flags,
                connection: word(2),
                server: word(3),
                remote_port: word(4),
                local_port: word(5),
                remote,
                local,
                server_name,
                alpn,
            }
        }
        6 => Record::Closed { connection: word(2), reason: word(3) },
        7 => Record::Writable { exchange: word(2) },
        8 => Record::Fault {
            exchange: word(2),
            connection: word(3),
            reason: word(4),
            bytes: view.bytes(word(5), word(6)),
        },
        9 => Record::Eof { exchange: word(2) },
        11 => {
            let mut at = word(5);
            let [remote, local, code, words] = [6, 7, 8, 9].map(word).map(|len| {
                at += len;
                view.text(at - len, len)
            });
            Record::Unshaken { server: word(2), ports: (word(3), word(4)), remote, local, code, words }
        }
        10 => Record::Part {
            exchange: word(2),
            total: word(4),
            at: word(5),
            words: view.slab[word(6) as usize / 4..view.to].to_vec(),
        },
        32 => {
            // Offsets count from the start of the head's text.
            let text_at = word(4);
            let field = |index: usize| {
                let [name_at, name, value_at, value] = [0, 1, 2, 3].map(|offset| word(8 + index * 4 + offset));
                (name >> 16, view.text(text_at + name_at, name & 0xffff), view.text(text_at + value_at, value))
            };
            Record::Response {
                call: word(2),
                whole: flags & 1 != 0,
                status: word(3) & 0xffff,
                fields: (0..(word(3) >> 16) as usize).map(field).collect(),
                body: view.bytes(word(6), word(7)),
            }
        }
        33 => Record::CallData { call: word(2), bytes: view.bytes(word(3), word(4)) },
        34 => Record::CallEnd { call: word(2) },
        35 => Record::CallFailed { call: word(2), failure: flags, reason: word(3), detail: word(4) },
        36 => Record::CallWritable { call: word(2) },
        other => panic!("a record of kind {other}"),
    }
}
