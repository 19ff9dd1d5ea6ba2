//! How is a source polled for its next item?

use std::task::{Context, Poll, ready};

use crate::adaptor::SourceState;
use crate::adaptor::cooperate::{SILENT_CHUNKS, give_way};

/// Polls for the next item.
///
/// `next` takes an item from `machine`. `fill` polls the source and passes the next chunk to
/// `machine`. `end` takes the items that the end of the source determines.
pub(super) fn poll_items<M, T, E>(
    cx: &mut Context<'_>,
    state: &mut SourceState,
    machine: &mut M,
    mut fill: impl FnMut(&mut M, &mut Context<'_>) -> Poll<Option<Result<(), E>>>,
    next: impl Fn(&mut M) -> Result<Option<T>, E>,
    end: impl Fn(&mut M) -> Result<Option<T>, E>,
) -> Poll<Option<Result<T, E>>> {
    let mut silent = 0;
    while *state == SourceState::Open {
        if let Some(item) = next(machine).transpose() {
            return Poll::Ready(Some(item));
        }
        if silent == SILENT_CHUNKS {
            return give_way(cx);
        }
        match ready!(fill(machine, cx)) {
            Some(Ok(())) => silent += 1,
            Some(Err(error)) => return Poll::Ready(Some(Err(error))),
            None => *state = SourceState::Ending,
        }
    }
    if *state == SourceState::Ending {
        if let Some(item) = end(machine).transpose() {
            return Poll::Ready(Some(item));
        }
        *state = SourceState::Ended;
    }
    Poll::Ready(None)
}
