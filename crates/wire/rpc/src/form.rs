/// The form of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// Protobuf's binary form.
    Binary,
    /// Protobuf's JSON form, UTF-8.
    Json,
}
