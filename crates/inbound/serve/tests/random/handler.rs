use std::future::poll_fn;

use leat_message::{Exchange, Fault, Handler, Head, Length, Method, Peer, Piece, Reason, Reply, Step};

/// Answers each request in one of several ways, by its target.
pub(crate) struct Behaviours;

#[derive(Clone, Copy)]
pub(crate) enum Behaviour {
    /// The body in chunks, as it comes.
    Echo,
    /// The length of the body once it is there.
    Count,
    /// At once, without a look at the body.
    Ignore,
    /// After the first piece of the body.
    Glance,
    /// Not at all.
    Fail,
    /// Half of what was announced.
    Cut,
}

impl Handler for Behaviours {
    type Plan = Behaviour;

    fn raw<R: Reply>(&self, request: Head<'_>, _peer: &Peer, reply: &mut R) -> Step<Behaviour> {
        let sum = request.target().iter().chain(request.method_bytes()).fold(0u32, |sum, &b| sum + u32::from(b));
        Step::Exchange(match sum % 8 {
            0 | 1 => {
                reply.status(200);
                reply.length(Length::Known(3));
                reply.body(b"raw");
                return Step::Done;
            }
            2 => Behaviour::Echo,
            3 => Behaviour::Count,
            4 => Behaviour::Ignore,
            5 => Behaviour::Glance,
            6 => Behaviour::Fail,
            _ => Behaviour::Cut,
        })
    }

    async fn exchange<X: Exchange>(&self, plan: Behaviour, x: &mut X) -> Result<(), Fault> {
        match plan {
            Behaviour::Echo => echo(x).await,
            Behaviour::Count => {
                let mut count = 0;
                while let some @ 1.. = take(x, None).await? {
                    count += some;
                }
                whole(x, format!("{count}").as_bytes()).await
            }
            Behaviour::Ignore => whole(x, b"ignored").await,
            Behaviour::Glance => {
                take(x, None).await?;
                whole(x, b"glanced").await
            }
            Behaviour::Fail => Err(Reason::UpstreamConnect.into()),
            Behaviour::Cut => {
                x.status(200);
                x.length(Length::Known(8));
                send(x, b"half").await?;
                Err(Reason::UpstreamReset.into())
            }
        }
    }
}

async fn echo<X: Exchange>(x: &mut X) -> Result<(), Fault> {
    x.status(200);
    x.length(Length::Stream);
    let mut held = Vec::new();
    while take(x, Some(&mut held)).await? > 0 {
        send(x, &held).await?;
        held.clear();
    }
    x.end(None);
    Ok(())
}

async fn whole<X: Exchange>(x: &mut X, body: &[u8]) -> Result<(), Fault> {
    x.status(200);
    x.length(Length::Known(body.len() as u64));
    if x.request().method() != Method::Head {
        send(x, body).await?;
    }
    x.end(None);
    Ok(())
}

/// Takes the next piece of the body; 0 at its end.
async fn take<X: Exchange>(x: &mut X, mut into: Option<&mut Vec<u8>>) -> Result<usize, Reason> {
    let count = poll_fn(|cx| {
        x.poll_body(cx).map_ok(|piece| match piece {
            Piece::Data(bytes) => {
                if let Some(into) = &mut into {
                    into.extend_from_slice(bytes);
                }
                bytes.len()
            }
            Piece::End => 0,
        })
    })
    .await?;
    x.consume(count);
    Ok(count)
}

async fn send<X: Exchange>(x: &mut X, mut bytes: &[u8]) -> Result<(), Reason> {
    while !bytes.is_empty() {
        let count = poll_fn(|cx| x.poll_send(cx, bytes)).await?;
        bytes = &bytes[count..];
    }
    Ok(())
}
