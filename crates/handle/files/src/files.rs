use std::sync::Arc;
use std::time::SystemTime;

use leat_message::{Exchange, Fault, Length, Method, Name, Reason};

use crate::beneath::{Root, Wait};
use crate::body::{self, Segment};
use crate::coding::Acceptable;
use crate::conditions::{self, Verdict};
use crate::lookup::{self, Found, Miss, Representation};
use crate::multipart;
use crate::path::{RelativePath, with_slash};
use crate::ranges::{self, Part, Selection};
use crate::reader::{self, Reader};
use crate::settings::{Settings, SettingsError};
use crate::validators::Validators;

/// Serves the files of a directory. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Files {
    settings: Arc<Settings>,
    root: Arc<Root>,
}

impl Files {
    /// Checks the settings.
    ///
    /// # Errors
    /// See [`SettingsError`]; among them a root that is not there.
    pub fn new(settings: Settings) -> Result<Self, SettingsError> {
        let root = Arc::new(settings.check()?);
        Ok(Self { settings: Arc::new(settings), root })
    }

    /// Answers one request. `path_under_root` is what follows the route's prefix in the request's path, still
    /// percent-encoded, with or without a leading slash.
    ///
    /// Memory is one block of [`crate::CHUNK_BYTES`] whatever the file's size. What is cached by the kernel is opened and
    /// read without leaving this thread; otherwise one hop to a blocking thread opens the file, and one reads each block.
    ///
    /// # Errors
    /// - `line.target_invalid`, `file.forbidden`, `file.not_found`: the path, before anything was written.
    /// - `file.failed`: the file cannot be read, or became shorter while it was sent; then the reply is cut.
    /// - Those of the exchange.
    pub async fn serve<X: Exchange>(&self, path_under_root: &[u8], x: &mut X) -> Result<(), Fault> {
        let method = x.request().method();
        if !matches!(method, Method::Get | Method::Head) {
            refuse_method(x);
            return Ok(());
        }
        let request_path = x.request().path();
        // The route's prefix itself, without its slash: relative links in the index would miss the directory.
        if path_under_root.is_empty() && !request_path.is_empty() && !request_path.ends_with(b"/") {
            redirect(x);
            return Ok(());
        }
        let path = RelativePath::parse(path_under_root, self.settings.hidden)?;
        match self.find(path, x).await? {
            Found::Directory => {
                redirect(x);
                Ok(())
            }
            Found::File(file) => self.answer(method, file, x).await,
        }
    }

    async fn find<X: Exchange>(&self, path: RelativePath, x: &mut X) -> Result<Found, Reason> {
        let lines = x.request().fields();
        let acceptable = Acceptable::parse(lines.get_all(Name::AcceptEncoding), &self.settings.precompressed);
        match lookup::find(&self.root, &self.settings, &path, &acceptable, Wait::Never) {
            Ok(found) => return Ok(found),
            Err(Miss::Refused(reason)) => return Err(reason),
            Err(Miss::MustWait) => {}
        }
        let (root, settings) = (Arc::clone(&self.root), Arc::clone(&self.settings));
        let find = move || lookup::find(&root, &settings, &path, &acceptable, Wait::Allowed);
        reader::on_blocking_thread(x, find).await?.map_err(|miss| match miss {
            Miss::Refused(reason) => reason,
            // Directories on the path were renamed again and again while it was looked up.
            Miss::MustWait => Reason::FileFailed,
        })
    }

    async fn answer<X: Exchange>(&self, method: Method, file: Representation, x: &mut X) -> Result<(), Fault> {
        let reply = Answer { settings: &self.settings, validators: validators_of(&file), file: &file };
        match conditions::evaluate(method, x.request().fields(), &reply.validators) {
            Verdict::NotModified => {
                x.status(304);
                reply.cache_fields(x);
                x.length(Length::None);
                x.end(None);
                Ok(())
            }
            Verdict::PreconditionFailed => {
                end_empty(x, 412, &[]);
                Ok(())
            }
            Verdict::SendAll => reply.send_whole(method, x).await,
            Verdict::SendRanges => {
                let value = x.request().fields().get(Name::Range).unwrap_or_default();
                match ranges::select(value, file.length) {
                    Selection::Whole => reply.send_whole(method, x).await,
                    Selection::Parts(parts) => reply.send_parts(&parts, x).await,
                    Selection::Unsatisfiable => {
                        end_empty(x, 416, &[(b"content-range", format!("bytes */{}", file.length).as_bytes())]);
                        Ok(())
                    }
                }
            }
        }
    }
}

fn validators_of(file: &Representation) -> Validators {
    Validators::new(file.stamp, file.coding, SystemTime::now())
}

/// A file on its way to the client.
struct Answer<'a> {
    settings: &'a Settings,
    validators: Validators,
    file: &'a Representation,
}

impl Answer<'_> {
    async fn send_whole<X: Exchange>(&self, method: Method, x: &mut X) -> Result<(), Fault> {
        let length = self.file.length;
        let mut segments = Vec::new();
        if method == Method::Get && length > 0 {
            segments.push(Segment::Part(Part { first: 0, last: length - 1 }));
        }
        let write_head = |x: &mut X| {
            x.status(200);
            x.field(b"content-type", self.file.media_type.as_bytes());
            self.content_fields(x);
            x.length(Length::Known(length));
        };
        body::send(x, Reader::new(Arc::clone(&self.file.file)), segments, write_head).await?;
        Ok(())
    }

    /// Sends one part as it is, several as `multipart/byteranges` (RFC 9110 section 14.6).
    async fn send_parts<X: Exchange>(&self, parts: &[Part], x: &mut X) -> Result<(), Fault> {
        let whole = self.file.length;
        let (segments, media_type, range) = match parts {
            &[part] => (
                vec![Segment::Part(part)],
                self.file.media_type.to_string(),
                Some(multipart::content_range(part, whole)),
            ),
            parts => {
                let boundary = multipart::boundary();
                let segments = multipart::segments(parts, whole, &self.file.media_type, &boundary);
                (segments, format!("multipart/byteranges; boundary={boundary}"), None)
            }
        };
        let length = segments.iter().map(Segment::length).sum();
        let write_head = |x: &mut X| {
            x.status(206);
            x.field(b"content-type", media_type.as_bytes());
            if let Some(range) = &range {
                x.field(b"content-range", range.as_bytes());
            }
            self.content_fields(x);
            x.length(Length::Known(length));
        };
        body::send(x, Reader::new(Arc::clone(&self.file.file)), segments, write_head).await?;
        Ok(())
    }

    fn content_fields<X: Exchange>(&self, x: &mut X) {
        if let Some(coding) = self.file.coding {
            x.field(b"content-encoding", coding.name().as_bytes());
        }
        x.field(b"accept-ranges", b"bytes");
        // The type follows from the name; a browser that guesses another one runs what was meant to be shown.
        x.field(b"x-content-type-options", b"nosniff");
        self.cache_fields(x);
    }

    /// What a 304 carries as well (RFC 9110 section 15.4.5).
    fn cache_fields<X: Exchange>(&self, x: &mut X) {
        x.field(b"etag", self.validators.etag_value());
        if let Some(date) = self.validators.last_modified_value() {
            x.field(b"last-modified", date.as_bytes());
        }
        // Also where there is no sibling now: there may be one tomorrow.
        if !self.settings.precompressed.is_empty() {
            x.field(b"vary", b"accept-encoding");
        }
        if let Some(value) = &self.settings.cache_control {
            x.field(b"cache-control", value.as_bytes());
        }
    }
}

fn refuse_method<X: Exchange>(x: &mut X) {
    x.record().reason = Some(Reason::RouteMethod);
    end_empty(x, 405, &[(b"allow", b"GET, HEAD")]);
}

/// GET and HEAD are the only methods here, so 301 says the same as 308 and every client knows it.
fn redirect<X: Exchange>(x: &mut X) {
    let request = x.request();
    let location = with_slash(request.path(), request.query());
    end_empty(x, 301, &[(b"location", &location)]);
}

fn end_empty<X: Exchange>(x: &mut X, status: u16, fields: &[(&[u8], &[u8])]) {
    x.status(status);
    fields.iter().for_each(|(name, value)| x.field(name, value));
    x.length(Length::Known(0));
    x.end(None);
}
