/// Which end of a connection we are. Frames, windows, blocks and limits are the same for both; where they are not, this is
/// asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// The client opens streams; what it sends on them are requests.
    Server,
    /// We open streams; what the server sends on them are responses.
    Client {
        /// Interim responses of one stream.
        interims_max: u32,
    },
}
