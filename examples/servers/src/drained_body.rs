//! Request bodies whose rest is read even if the answer comes early.

use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::header::EXPECT;
use axum::middleware::map_request;
use bytes::Bytes;
use http_body::{Body as _, Frame, SizeHint};
use http_body_util::{BodyExt, Limited};
use tokio::runtime::Handle;
use tokio::time::timeout;

/// Reads and discards the rest of a body, for at most `longest` and at most `most` bytes.
///
/// A server that answers early closes a connection of HTTP/1 with unread bytes. This resets it, and the client can
/// lose the answer: many clients read it only after they have sent everything.
pub async fn drain_body(body: Body, longest: Duration, most: u64) {
    let mut rest = Limited::new(body, usize::try_from(most).unwrap_or(usize::MAX));
    let read = async { while let Some(Ok(_)) = rest.frame().await {} };
    // However it ends, the answer has been sent.
    let _ended = timeout(longest, read).await;
}

/// Makes `router` read the rest of each body that a handler, an extractor or a layer drops; see [`drain_body`].
pub fn drained(router: Router, longest: Duration, most: u64) -> Router {
    router.layer(map_request(move |request: Request| {
        let is_awaited = request.headers().contains_key(EXPECT);
        let drained = |body| Body::new(DrainedBody { body, longest, most, is_awaited });
        std::future::ready(request.map(drained))
    }))
}

/// A body that is read to its end when it is dropped.
struct DrainedBody {
    body: Body,
    longest: Duration,
    most: u64,
    /// The client waits for `100 Continue`, which the first poll sends. Until then there is nothing to read.
    is_awaited: bool,
}

impl http_body::Body for DrainedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        self.is_awaited = false;
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for DrainedBody {
    fn drop(&mut self) {
        if self.is_awaited || self.body.is_end_stream() {
            return;
        }
        // Not while the program ends.
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(drain_body(mem::take(&mut self.body), self.longest, self.most));
        }
    }
}
