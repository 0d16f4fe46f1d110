//! Fields become blocks.

/// The sending side of a connection's fields.
#[derive(Debug, Default)]
pub struct Encoder {
    table_bytes_max: u32,
}

impl Encoder {
    /// An encoder for a peer whose table has the initial size.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes over the peer's SETTINGS_HEADER_TABLE_SIZE; call it between blocks only.
    pub fn set_table_bytes_max(&mut self, table_bytes_max: u32) {
        self.table_bytes_max = table_bytes_max;
    }

    /// Appends `:status`, which begins a reply's block.
    pub fn status(&mut self, out: &mut Vec<u8>, status: u16) {
        let _ = (out, status);
    }

    /// Appends a field; the name is lower-cased on the way.
    pub fn field(&mut self, out: &mut Vec<u8>, name: &[u8], value: &[u8]) {
        let _ = (out, name, value);
    }

    /// Appends a field that nobody may keep in a table (RFC 7541, section 7.1.3).
    pub fn secret(&mut self, out: &mut Vec<u8>, name: &[u8], value: &[u8]) {
        let _ = (out, name, value);
    }
}
