use leat_schema::Schema;
use leat_schema::path::{Path, Value};

/// A request, read.
pub(super) struct Question<'a> {
    pub(super) host: &'a str,
    pub(super) what: Ask<'a>,
}

/// What a client wants to know.
pub(super) enum Ask<'a> {
    File(&'a str),
    Symbol(&'a str),
    Extension {
        of: &'a str,
        number: i64,
    },
    ExtensionNumbers(&'a str),
    Services,
    /// None of these: of a later version, perhaps.
    Nothing,
}

/// Reads requests; both versions have the same fields.
pub(super) struct Questions {
    host: Option<Path>,
    /// `file_by_filename`, `file_containing_symbol`, `all_extension_numbers_of_type`, `list_services`, and of
    /// `file_containing_extension` its presence, type and number.
    asks: [Option<Path>; 7],
}

impl Questions {
    pub(super) fn new(own: &Schema) -> Self {
        let of = own.method(super::PATH).map(|method| method.input().clone());
        let path = |text: &str| Path::compile(of.as_ref()?, text).ok();
        Self {
            host: path("host"),
            asks: [
                path("file_by_filename"),
                path("file_containing_symbol"),
                path("all_extension_numbers_of_type"),
                path("list_services"),
                path("file_containing_extension"),
                path("file_containing_extension.containing_type"),
                path("file_containing_extension.extension_number"),
            ],
        }
    }

    /// `None` for bytes that are no request.
    pub(super) fn read<'a>(&'a self, request: &'a [u8]) -> Option<Question<'a>> {
        let text = |path: &'a Option<Path>| -> Option<Option<&'a str>> {
            let seen = path.as_ref()?.read(request).ok()?;
            match seen.value {
                Value::String(text) => Some(seen.present.then_some(text)),
                _ => Some(None),
            }
        };
        let [file, symbol, numbers, services, extension, of, number] = &self.asks;
        let host = text(&self.host)?.unwrap_or_default();
        let what = if let Some(name) = text(file)? {
            Ask::File(name)
        } else if let Some(name) = text(symbol)? {
            Ask::Symbol(name)
        } else if let Some(name) = text(numbers)? {
            Ask::ExtensionNumbers(name)
        } else if text(services)?.is_some() {
            Ask::Services
        } else if extension.as_ref()?.read(request).ok()?.present {
            match number.as_ref()?.read(request).ok()?.value {
                Value::Int(number) => Ask::Extension { of: text(of)?.unwrap_or_default(), number },
                _ => Ask::Nothing,
            }
        } else {
            Ask::Nothing
        };
        Some(Question { host, what })
    }
}
