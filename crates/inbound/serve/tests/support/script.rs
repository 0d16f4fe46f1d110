use std::future::poll_fn;
use std::task::{Poll, ready};

use leat_message::{Exchange, Fault, Fields, Length, Piece, Reason};
use tokio::sync::Notify;

use super::handler::{field, head, read_all, send_all, send_pattern};

/// Answers as a script says: steps between semicolons, `|` for the end of a line.
pub async fn run<X: Exchange>(script: &str, x: &mut X, release: &Notify) -> Result<(), Fault> {
    let mut read = Vec::new();
    for step in script.split(';').map(str::trim).filter(|step| !step.is_empty()) {
        let (name, rest) = step.split_once(' ').unwrap_or((step, ""));
        let (text, number) = (rest.replace('|', "\r\n"), rest.parse::<u64>().unwrap_or(0));
        match name {
            // A head that the handler formatted; its status is what it says.
            "head" => x.verbatim(status(&text), text.as_bytes()),
            "interim" => x.interim_verbatim(status(&text), text.as_bytes()),
            // One of the engine's.
            "engine" => head(x, 200, Length::Known(number)),
            "send" => send_all(x, text.as_bytes()).await?,
            "bytes" => send_pattern(x, number, number as usize).await?,
            "pieces" => send_pattern(x, number, 1_000).await?,
            "keep" => x.keep_alive(rest == "true"),
            "waive" => x.waive_continue(),
            "take" => {
                let taken = x.take_over();
                x.record().status = if taken { 299 } else { 298 };
            }
            "read" => read = read_all(x).await?,
            // One piece of the body, and so many bytes of it.
            "part" => {
                let part = poll_fn(|cx| {
                    let piece = ready!(x.poll_body(cx))?;
                    let Piece::Data(bytes) = piece else { return Poll::Ready(Ok(Vec::new())) };
                    Poll::Ready(Ok::<_, Reason>(bytes.iter().copied().take(number as usize).collect()))
                });
                read = part.await?;
                x.consume(read.len());
            }
            // The body's error is the handler's to answer.
            "body-error" => {
                let outcome = read_all(x).await;
                read = outcome.expect_err("a body with an error").code().into();
            }
            "sent-back" => send_all(x, &read).await?,
            // What is asked, as far as there is anything.
            "request" => {
                let request = x.request();
                let (method, fields) = (request.method(), request.fields().len());
                let text = format!("[{method:?} {fields} {}]", String::from_utf8_lossy(request.bytes()));
                send_all(x, text.as_bytes()).await?;
            }
            "flush" => poll_fn(|cx| x.poll_flush(cx)).await?,
            "release" => release.notified().await,
            "end" => x.end(None),
            // The end, with a field.
            "trailers" => {
                let (name, value) = text.split_once(' ').unwrap_or_default();
                let (bytes, field) = field(name, value);
                x.end(Some(Fields::new(&bytes, &[field])));
            }
            // A head of the engine's with a field, and an interim one.
            "field" => {
                let (name, value) = text.split_once(' ').unwrap_or_default();
                x.status(200);
                x.field(name.as_bytes(), value.as_bytes());
                x.length(Length::Known(0));
            }
            "hint" => {
                let (name, value) = text.split_once(' ').unwrap_or_default();
                let (bytes, field) = field(name, value);
                x.interim(103, Fields::new(&bytes, &[field]));
            }
            "fail" => return Err(reason(rest).into()),
            "panic" => panic!("asked for"),
            _ => panic!("no step {step}"),
        }
    }
    Ok(())
}

/// The status that a head says.
fn status(head: &str) -> u16 {
    head.split(' ').nth(1).and_then(|status| status.get(..3)).and_then(|status| status.parse().ok()).unwrap_or(0)
}

fn reason(code: &str) -> Reason {
    Reason::ALL.iter().copied().find(|reason| reason.code() == code).expect("a reason")
}
