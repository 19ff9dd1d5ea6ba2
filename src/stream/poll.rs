use std::task::{Context, Poll, ready};

use crate::adaptor::chunk::{SILENT_CHUNKS, give_way};

/// How far a source is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// It may have more.
    Open,
    /// It has ended; what is held has not.
    Ending,
    /// `None` has been said, or is about to be.
    Ended,
}

/// Polls for the next item: what `next` makes of what `machine` has, and `end` of the end. `fill`
/// polls the source for more and says whether there is.
pub(super) fn poll_items<M, T, E>(
    cx: &mut Context<'_>,
    state: &mut State,
    machine: &mut M,
    mut fill: impl FnMut(&mut M, &mut Context<'_>) -> Poll<Option<Result<(), E>>>,
    next: impl Fn(&mut M) -> Result<Option<T>, E>,
    end: impl Fn(&mut M) -> Result<Option<T>, E>,
) -> Poll<Option<Result<T, E>>> {
    let mut silent = 0;
    while *state == State::Open {
        if let Some(item) = next(machine).transpose() {
            return Poll::Ready(Some(item));
        }
        if silent == SILENT_CHUNKS {
            return give_way(cx);
        }
        match ready!(fill(machine, cx)) {
            Some(Ok(())) => silent += 1,
            Some(Err(error)) => return Poll::Ready(Some(Err(error))),
            None => *state = State::Ending,
        }
    }
    if *state == State::Ending {
        if let Some(item) = end(machine).transpose() {
            return Poll::Ready(Some(item));
        }
        *state = State::Ended;
    }
    Poll::Ready(None)
}
