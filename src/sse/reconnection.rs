//! When does a client of an event stream connect again?

use core::mem;
use core::time::Duration;

use crate::sse::{EventDecoder, SharedStr};

/// Decides when a client connects again, as WHATWG HTML does in section 9.2.3. It owns no connection and no timer:
/// you report what happens, and wait as long as it returns.
///
/// | what happens | report | meaning |
/// | --- | --- | --- |
/// | no response: a network error | [`failed`](Self::failed) | connect again after the delay |
/// | status 200 and `text/event-stream` | [`accept`](Self::accept) | decode the body |
/// | status 204 | `accept` | the server wants no more connections: stop |
/// | a redirection (301, 302, 303, 307, 308) | none | the HTTP client follows it; if it does not, stop |
/// | another status, such as 401 or 503; another media type | `accept` | stop |
/// | 429, 500, 502, 503 or 504, after [`retry_busy_servers`](Self::retry_busy_servers) | `accept` | connect again after the delay |
/// | the body ends or breaks | [`ended`](Self::ended) | connect again after the delay |
///
/// The delay is the reconnection time that the server has set with `retry`, within the bounds, or the minimum. It doubles
/// with each further failure in a row: a connection that fails or ends without an event. A server that repeats a `retry` of
/// zero, or of years, cannot make the client connect without a pause or never.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use utf8_codec::sse::{EventDecoder, Reconnection};
///
/// let mut reconnection = Reconnection::new();
/// reconnection.accept(200, b"text/event-stream; charset=latin1")?;
/// let mut decoder = EventDecoder::new();
/// for event in decoder.push(b"id: 7\nretry: 5000\ndata: caf\xC3\xA9\n\n") {
///     assert_eq!(event.unwrap().data, "café");
///     reconnection.received();
/// }
/// assert_eq!(reconnection.ended(&decoder), Some(Duration::from_secs(5)));
/// assert_eq!(reconnection.last_event_id(), "7"); // for `Last-Event-ID`
/// # Ok::<(), utf8_codec::sse::ResponseError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Reconnection {
    min_delay: Duration,
    max_delay: Duration,
    max_failures: u32,
    retries_busy_servers: bool,
    failures: u32,
    /// Whether the connection has had an event.
    has_received: bool,
    /// What the server has set.
    time: Option<Duration>,
    last_event_id: SharedStr,
}

/// Why a response is no event stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ResponseError {
    /// Status 204: the server wants the client to stop.
    #[error("the server has no more events (status 204)")]
    NoContent,
    /// Another status than 200.
    #[error("status {status} instead of 200")]
    Status {
        /// The status.
        status: u16,
    },
    /// The status is 200, but the media type is not `text/event-stream`.
    #[error("the media type is not text/event-stream")]
    MediaType,
}

impl Reconnection {
    /// Creates a policy that waits for 3 seconds at first and at most one minute, and gives up at the 11th failure in a row.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            min_delay: Duration::from_secs(3),
            max_delay: Duration::from_secs(60),
            max_failures: 10,
            retries_busy_servers: false,
            failures: 0,
            has_received: false,
            time: None,
            last_event_id: SharedStr::EMPTY,
        }
    }

    /// Sets the bounds of the delay. The maximum wins if it is less than the minimum.
    #[must_use]
    pub fn with_delay(self, min: Duration, max: Duration) -> Self {
        Self { min_delay: min, max_delay: max, ..self }
    }

    /// Sets how many failures in a row are followed by another attempt. The standard sets no maximum.
    #[must_use]
    pub fn with_max_failures(self, max_failures: u32) -> Self {
        Self { max_failures, ..self }
    }

    /// Treats the statuses 429, 500, 502, 503 and 504 as failures after which to connect again. The standard stops.
    #[must_use]
    pub fn retry_busy_servers(self) -> Self {
        Self { retries_busy_servers: true, ..self }
    }

    /// Sets the last event ID of an earlier session.
    #[must_use]
    pub fn with_last_event_id(self, id: impl Into<SharedStr>) -> Self {
        Self { last_event_id: id.into(), ..self }
    }

    /// Returns the ID to send as `Last-Event-ID`, in UTF-8, unless it is empty. Also give it to the next decoder.
    #[must_use]
    pub fn last_event_id(&self) -> &SharedStr {
        &self.last_event_id
    }

    /// Returns the number of failures in a row.
    #[must_use]
    pub const fn failures(&self) -> u32 {
        self.failures
    }

    /// Checks the status and the `Content-Type` of a response, which is empty if there is none. The parameters of `content_type` are ignored: an event stream is always UTF-8.
    ///
    /// # Errors
    ///
    /// A [`ResponseError`] if it is no event stream. Report it to [`refused`](Self::refused), which decides whether to connect
    /// again.
    pub fn accept(&self, status: u16, content_type: &[u8]) -> Result<(), ResponseError> {
        let media_type = content_type.split(|&byte| byte == b';').next();
        let media_type = media_type.unwrap_or_default().trim_ascii();
        match status {
            200 if media_type.eq_ignore_ascii_case(b"text/event-stream") => Ok(()),
            200 => Err(ResponseError::MediaType),
            204 => Err(ResponseError::NoContent),
            status => Err(ResponseError::Status { status }),
        }
    }

    /// A response was refused. Returns the delay before the next attempt, or `None` to stop.
    pub fn refused(&mut self, refusal: ResponseError) -> Option<Duration> {
        let is_busy = matches!(refusal, ResponseError::Status { status: 429 | 500 | 502..=504 });
        if is_busy && self.retries_busy_servers { self.failed() } else { None }
    }

    /// There was no response. Returns the delay before the next attempt, or `None` to stop.
    pub fn failed(&mut self) -> Option<Duration> {
        self.has_received = false;
        self.failures = self.failures.saturating_add(1);
        (self.failures <= self.max_failures).then(|| self.delay())
    }

    /// An event was received: the connection is no failure.
    pub fn received(&mut self) {
        self.failures = 0;
        self.has_received = true;
    }

    /// The body has ended, or broken. Takes the last event ID and the reconnection time from its decoder. Returns the
    /// delay before the next attempt, or `None` to stop. A connection without an [event](Self::received) is a failure.
    pub fn ended(&mut self, decoder: &EventDecoder) -> Option<Duration> {
        self.time = decoder.reconnection_time().or(self.time);
        self.last_event_id = decoder.shared_last_event_id().clone();
        if mem::take(&mut self.has_received) { Some(self.delay()) } else { self.failed() }
    }

    fn delay(&self) -> Duration {
        let first = self.time.unwrap_or_default().max(self.min_delay);
        let doublings = self.failures.saturating_sub(1).min(31);
        first.saturating_mul(1 << doublings).min(self.max_delay)
    }
}

impl Default for Reconnection {
    fn default() -> Self {
        Self::new()
    }
}
