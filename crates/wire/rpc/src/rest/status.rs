use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use leat_schema::Schema;
use serde_json::Value;

use crate::Status;

/// Appends a status as `google.rpc.Status` in JSON: the body of an error reply. Details whose type the schema knows are
/// written out, others as Base64 beside their type.
pub fn write(status: &Status, schema: &Schema, out: &mut Vec<u8>) {
    let message = Value::from(status.message.as_str());
    out.extend_from_slice(
        format!("{{\"code\":{},\"message\":{message},\"details\":[", status.code.number()).as_bytes(),
    );
    for (number, detail) in status.details.iter().enumerate() {
        if number > 0 {
            out.push(b',');
        }
        let url = Value::from(format!("type.googleapis.com/{}", detail.type_name));
        out.extend_from_slice(format!("{{\"@type\":{url}").as_bytes());
        let known = schema.message(&detail.type_name);
        let mut json = Vec::new();
        match &known {
            Some(known) if known.to_json(&detail.value, &mut json).is_ok() => {
                // The types with a JSON form of their own stand beside `@type`, all others around it.
                if known.well_known().is_some() {
                    out.extend_from_slice(b",\"value\":");
                    out.extend_from_slice(&json);
                    out.push(b'}');
                } else {
                    let fields = json.get(1..).unwrap_or(b"}");
                    if fields != b"}" {
                        out.push(b',');
                    }
                    out.extend_from_slice(fields);
                }
            }
            _ => out.extend_from_slice(format!(",\"value\":\"{}\"}}", STANDARD.encode(&detail.value)).as_bytes()),
        }
    }
    out.extend_from_slice(b"]}");
}
