use super::decompression::Decompression;
use super::model::Route;

/// What stands around a route's exchange beside `compression`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Layers {
    pub(super) decompression: Option<Decompression>,
    pub(super) buffer_bytes_max: Option<usize>,
}

impl Route {
    /// Which bodies of requests are decoded on their way.
    pub fn decompression(&self) -> Option<&Decompression> {
        self.layers.decompression.as_ref()
    }

    /// The longest reply that is read whole before the client gets its head, in bytes; `None`: all stream.
    pub fn buffer_bytes_max(&self) -> Option<usize> {
        self.layers.buffer_bytes_max
    }

    /// Whether bodies are changed or held on their way.
    pub fn is_layered(&self) -> bool {
        self.compression().is_some() || self.decompression().is_some() || self.buffer_bytes_max().is_some()
    }
}
