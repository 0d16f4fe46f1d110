//! Well-known formats of strings, as protovalidate defines them: functions of CEL, and rules of their own.

mod email;
mod host;
mod ip;
mod names;
mod uri;

pub use email::is_email;
pub use host::{is_host_and_port, is_hostname};
pub use ip::{Version, is_ip, is_ip_prefix};
pub use names::{is_header_name, is_header_value, is_protobuf_name, is_trimmed_uuid, is_ulid, is_uuid};
pub use uri::{is_uri, is_uri_reference};
