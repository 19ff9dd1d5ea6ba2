//! Connections, one after another, each with messages both ways and an end of some kind.

use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures::future;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, DuplexStream, ReadHalf, WriteHalf};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};

use crate::Result;
use crate::figures::{Fault, Figures};
use crate::receive::{Receiver, receive};
use crate::text::{Account, HALVES, Message, Random};

/// When messages are sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) until: Instant,
    /// The longest time between two messages.
    pub(crate) pause: Duration,
}

/// A message that has not arrived after this time is lost.
const PATIENCE: Duration = Duration::from_secs(30);

/// A transport with two halves that can be reset.
pub(crate) trait Wire: Send + 'static {
    type Read: AsyncRead + Unpin + Send + 'static;
    type Write: AsyncWrite + Unpin + Send + 'static;

    /// Whether the transport can be reset.
    const BREAKS: bool;

    fn halves(self) -> (Self::Read, Self::Write);

    /// Makes dropping both halves a reset, if the transport has one. The other end then reads an error, and
    /// may lose what it has not read.
    fn abandon(write: Self::Write);
}

impl Wire for TcpStream {
    type Read = OwnedReadHalf;
    type Write = OwnedWriteHalf;

    const BREAKS: bool = true;

    fn halves(self) -> (OwnedReadHalf, OwnedWriteHalf) {
        self.into_split()
    }

    fn abandon(write: OwnedWriteHalf) {
        // If it fails, the connection is closed normally, which is harmless here.
        let _ = write.as_ref().set_zero_linger();
        write.forget();
    }
}

impl Wire for DuplexStream {
    type Read = ReadHalf<Self>;
    type Write = WriteHalf<Self>;

    const BREAKS: bool = false;

    fn halves(self) -> (ReadHalf<Self>, WriteHalf<Self>) {
        tokio::io::split(self)
    }

    fn abandon(write: WriteHalf<Self>) {
        drop(write);
    }
}

/// One direction of a connection.
#[derive(Debug)]
pub(crate) struct Direction {
    state: Mutex<State>,
    /// The number of newlines read, each the end of a message.
    delivered: AtomicU64,
    arrived: Notify,
    figures: Arc<Figures>,
}

#[derive(Debug)]
struct State {
    seen: Account,
    /// When each message in flight was started, and its length.
    on_its_way: VecDeque<(Instant, u64)>,
    /// Whether a character is still to be dropped on purpose.
    lose: bool,
}

impl Direction {
    fn new(figures: &Arc<Figures>, lose: bool) -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::new(State { seen: Account::NOTHING, on_its_way: VecDeque::new(), lose }),
            delivered: AtomicU64::new(0),
            arrived: Notify::new(),
            figures: Arc::clone(figures),
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn add_text(&self, text: &str) {
        let mut state = self.state();
        let mut text = text;
        if state.lose && !text.starts_with('\n') {
            state.lose = false;
            let mut chars = text.chars();
            chars.next();
            text = chars.as_str();
        }
        state.seen.add_text(text);
        self.figures.add_chars(text.chars().count() as u64);
        for _ in text.matches('\n') {
            if let Some((begun, bytes)) = state.on_its_way.pop_front() {
                self.figures.add_message(bytes, begun.elapsed());
            }
            self.delivered.fetch_add(1, Ordering::Release);
            self.arrived.notify_one();
        }
    }

    pub(crate) fn add_error(&self, offset: u64, bytes: &[u8]) {
        self.state().seen.add_error(offset, bytes);
    }

    pub(crate) fn add_fault(&self, fault: Fault, times: u64) {
        self.figures.add_fault(fault, times);
    }

    /// Waits until this many `messages` have arrived. False if they do not arrive for a long time.
    async fn delivers(&self, messages: u64) -> bool {
        let all = async {
            while self.delivered.load(Ordering::Acquire) < messages {
                self.arrived.notified().await;
            }
        };
        timeout(PATIENCE, all).await.is_ok()
    }

    /// Counts the characters missing from `expected`; at least one if anything differs.
    fn settle(&self, expected: &Account) {
        let seen = self.state().seen;
        if seen != *expected {
            let events = |account: &Account| account.chars + account.errors;
            self.figures.add_lost(events(expected).abs_diff(events(&seen)).max(1));
        }
    }
}

/// The sending end of a direction.
struct Sender<W> {
    writer: W,
    direction: Arc<Direction>,
    expected: Account,
    offset: u64,
    messages: u64,
    repaired: bool,
    random: Random,
}

impl<W: AsyncWrite + Unpin> Sender<W> {
    fn new(writer: W, direction: &Arc<Direction>, receiver: Receiver, random: Random) -> Self {
        Self {
            writer,
            direction: Arc::clone(direction),
            expected: Account::NOTHING,
            offset: 0,
            messages: 0,
            repaired: receiver.repairs(),
            random,
        }
    }

    /// Sends a message.
    async fn send(&mut self) -> Result<()> {
        let random = &mut self.random;
        let message = Message::random(random, self.offset, self.repaired, &mut self.expected);
        self.offset += message.bytes.len() as u64;
        self.messages += 1;
        self.direction.add_fault(Fault::IllFormed, message.ill_formed);
        let length = message.bytes.len() as u64;
        self.direction.state().on_its_way.push_back((Instant::now(), length));
        let most = random.longest_piece();
        let mut rest = &message.bytes[..];
        while !rest.is_empty() {
            let (piece, after) = rest.split_at(rest.len().min(1 + random.below(most)));
            self.writer.write_all(piece).await?;
            rest = after;
            if random.one_in(4) {
                tokio::task::yield_now().await;
            }
        }
        Ok(())
    }

    /// Waits until all messages have been read.
    async fn wait_delivered(&mut self) -> Result<()> {
        match self.direction.delivers(self.messages).await {
            true => Ok(()),
            false => Err("a message has not come".into()),
        }
    }

    /// Sends some messages, with pauses between them, some before earlier ones have been read.
    async fn send_some(&mut self, plan: Plan) -> Result<()> {
        for _ in 0..1 + self.random.below(20) {
            if Instant::now() >= plan.until {
                break;
            }
            self.send().await?;
            if self.random.one_in(2) {
                self.wait_delivered().await?;
                let pause = plan.pause.as_millis() as usize;
                sleep(Duration::from_millis(self.random.below(pause + 1) as u64)).await;
            }
        }
        self.wait_delivered().await
    }

    /// Writes an incomplete character, and records it as an error if the stream ends with it.
    async fn send_half(&mut self, ends: bool) -> Result<()> {
        let half = HALVES[self.random.below(HALVES.len())];
        self.writer.write_all(half).await?;
        match (ends, self.repaired) {
            (false, _) => {}
            (true, true) => self.expected.add_text("\u{FFFD}"),
            (true, false) => self.expected.add_error(self.offset, half),
        }
        Ok(())
    }
}

/// Keeps a connection open until the plan ends: when one has ended, opens the next.
pub(crate) async fn run_connection<W: Wire>(
    connect: impl AsyncFn() -> io::Result<(W, W)>,
    plan: Plan,
    mut random: Random,
    figures: Arc<Figures>,
    lose: bool,
) -> Result<()> {
    let mut lose = lose;
    // Spread the starts.
    let pause = plan.pause.as_millis() as usize;
    sleep(Duration::from_millis(random.below(pause + 1) as u64)).await;
    loop {
        let (near, far) = connect().await?;
        run_once(near, far, plan, random.fork(), &figures, std::mem::take(&mut lose)).await?;
        if Instant::now() >= plan.until {
            return Ok(());
        }
    }
}

/// One connection, from start to end.
async fn run_once<W: Wire>(
    near: W,
    far: W,
    plan: Plan,
    mut random: Random,
    figures: &Arc<Figures>,
    lose: bool,
) -> Result<()> {
    let ((near_read, near_write), (far_read, far_write)) = (near.halves(), far.halves());
    let receivers = [0; 2].map(|_| Receiver::ALL[random.below(Receiver::ALL.len())]);
    let (there, back) = (Direction::new(figures, lose), Direction::new(figures, false));
    let mut sender = Sender::new(near_write, &there, receivers[0], random.fork());
    let mut answerer = Sender::new(far_write, &back, receivers[1], random.fork());
    let spawn = |receiver, read, direction: &Arc<Direction>, random| {
        let direction = Arc::clone(direction);
        async move { receive(receiver, read, &direction, random).await }
    };
    let reads_there = tokio::spawn(spawn(receivers[0], far_read, &there, random.fork()));
    let reads_back = tokio::spawn(spawn(receivers[1], near_read, &back, random.fork()));

    let (sent, answered) = future::join(sender.send_some(plan), answerer.send_some(plan)).await;
    sent.and(answered)?;

    match random.below(3) {
        0 => {
            // One side resets the connection inside a character. A pipe just ends.
            figures.add_fault(Fault::Reset, 1);
            sender.send_half(!W::BREAKS).await?;
            W::abandon(sender.writer);
            reads_back.abort();
            let _aborted = reads_back.await;
            reads_there.await?;
            drop(answerer.writer);
        }
        1 => {
            // One side ends inside a character, and the other still answers.
            figures.add_fault(Fault::HalfClosed, 1);
            sender.send_half(true).await?;
            sender.writer.shutdown().await?;
            reads_there.await?;
            answerer.send().await?;
            answerer.wait_delivered().await?;
            answerer.writer.shutdown().await?;
            reads_back.await?;
        }
        _ => {
            sender.writer.shutdown().await?;
            answerer.writer.shutdown().await?;
            reads_there.await?;
            reads_back.await?;
        }
    }
    there.settle(&sender.expected);
    back.settle(&answerer.expected);
    Ok(())
}
