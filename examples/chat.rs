//! A chat server: lines of text over TCP, with a limit on everything a client can make it hold.
//!
//! It shows `Utf8LinesCodec` in `FramedRead` for input and `Utf8Writer` for output, both halves of a
//! connection in one `select!` (the function `talk`). A future that loses is dropped, and no data is lost.
//! A message is encoded once, and all connections share its memory.
//!
//! ```text
//! cargo run --release --example chat -- [--listen ADDR] [OPTIONS]
//! ```
//!
//! Without arguments, the server runs on a loopback socket. Two clients follow a script, and send
//! characters in pieces. The program exits with 0 if each client receives the expected lines.
//!
//! With `--listen 127.0.0.1:7777`, any client of lines can connect: `nc 127.0.0.1 7777`. The first line
//! that a client sends is its name; each other line goes to all other clients.
//!
//! - Bytes that are not UTF-8, and characters that could command a terminal, hide text or change its order, become U+FFFD. The
//!   room learns how many when the client leaves. The client stays connected.
//! - A line longer than `--max-line` is dropped, and its sender is notified. The next line is delivered.
//! - A client that does not read is disconnected when 64 messages are queued for it, or when a write takes
//!   longer than `--patience`.

#[allow(unreachable_pub, reason = "the servers have it in their library")]
#[path = "support/drain.rs"]
mod drain;
#[path = "support/output.rs"]
mod output;

use std::collections::BTreeMap;
use std::error::Error;
use std::iter;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use clap::Parser;
use futures::StreamExt;
use tokio::io::AsyncWriteExt;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::sync::mpsc::{self, Receiver, Sender};
use tokio::time::{sleep, timeout};
use tokio_util::codec::FramedRead;
use utf8_codec::codec::Utf8LinesCodec;
use utf8_codec::lines::{Line, LineError};
use utf8_codec::stream::Utf8Writer;
use utf8_codec::{ByteString, ErrorMode, Utf8Options, boundary};

use drain::drain;
use output::{complain, say};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// A chat server over TCP: each line goes to all other clients.
///
/// Without --listen: serves two clients that follow a script.
#[derive(Clone, Parser)]
#[command(name = "chat")]
struct Arguments {
    /// Serves at this address until interrupted (port 0: any free port).
    #[arg(long, value_name = "ADDR")]
    listen: Option<String>,
    /// The longest line, in bytes.
    #[arg(long, value_name = "BYTES", default_value_t = 1000)]
    max_line: usize,
    /// How many clients may be connected.
    #[arg(long, value_name = "N", default_value_t = 100)]
    max_clients: usize,
    /// How long a client may take to accept messages, or to send its name, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    patience: u64,
}

/// The longest name, in bytes; a longer one is truncated.
const MAX_NAME: usize = 24;

/// How many bytes to read of what a client still sends when the room is full.
const MAX_REST: u64 = 1 << 20;

/// How many messages may be queued for a client.
const MAX_WAITING: usize = 64;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let ended = match &arguments.listen {
        Some(address) => listen(address, &arguments).await,
        None => talk_by_script(&arguments).await,
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(error);
            ExitCode::FAILURE
        }
    }
}

async fn listen(address: &str, arguments: &Arguments) -> Result<()> {
    let bound = TcpListener::bind(address).await;
    let listener = bound.map_err(|error| format!("{address}: {error}"))?;
    say(format_args!("listening on {}", listener.local_addr()?))?;
    serve(listener, arguments).await
}

// ---- the server ---------------------------------------------------------------------------------

async fn serve(listener: TcpListener, arguments: &Arguments) -> Result<()> {
    let room = Room::default();
    // Also for clients that have sent no name yet; others wait.
    let free = Arc::new(Semaphore::new(arguments.max_clients.saturating_add(NAMELESS)));
    loop {
        let permit = Arc::clone(&free).acquire_owned().await?;
        let Ok((socket, _)) = listener.accept().await else {
            // Such as too many open files: try again later.
            sleep(Duration::from_millis(50)).await;
            continue;
        };
        let (room, arguments) = (room.clone(), arguments.clone());
        tokio::spawn(async move {
            // An error ends this connection only.
            let _gone = attend(socket, &room, &arguments).await;
            drop(permit);
        });
    }
}

/// How many connections may have sent no name yet while the room is full.
const NAMELESS: usize = 100;

type Lines = FramedRead<OwnedReadHalf, Utf8LinesCodec>;

/// Serves one client, from its name to the end of its connection.
async fn attend(socket: TcpStream, room: &Room, arguments: &Arguments) -> Result<()> {
    socket.set_nodelay(true)?;
    let (reader, writer) = socket.into_split();
    let codec = Utf8LinesCodec::new()
        .with_options(Utf8Options::new().only_displayable_characters())
        .with_error_mode(ErrorMode::Replacement)
        .with_max_length(arguments.max_line);
    let mut lines = FramedRead::new(reader, codec);
    let patience = Duration::from_secs(arguments.patience);
    let mut outlet = Outlet { writer: Utf8Writer::new(writer), patience };

    let Some(Ok(name)) = timeout(patience, lines.next()).await?.transpose()? else { return Ok(()) };
    // A star begins the messages of the server.
    let name = boundary::truncate(name.trim_start_matches(['*', ' ']).trim_end(), MAX_NAME);
    let Some((id, mut messages)) = room.enter(name, arguments.max_clients) else {
        outlet.say([ByteString::from("* the room is full")]).await?;
        outlet.writer.close().await?;
        drain(lines.get_mut(), patience, MAX_REST).await;
        return Ok(());
    };
    let talked = talk(&mut lines, &mut outlet, &mut messages, room, id).await;
    room.leave(id, lines.decoder().decoder().error_count());
    talked
}

/// Delivers the client's lines to the room, and the room's messages to the client, until either ends.
async fn talk(
    lines: &mut Lines,
    outlet: &mut Outlet,
    messages: &mut Receiver<ByteString>,
    room: &Room,
    id: u64,
) -> Result<()> {
    loop {
        tokio::select! {
            line = lines.next() => match line.transpose()? {
                None => return Ok(outlet.writer.close().await?),
                Some(Ok(line)) => room.say(id, &line),
                Some(Err(LineError::TooLong { number, max_length: limit, .. })) => {
                    let rejection = format!("* line {number} is longer than {limit} bytes: dropped");
                    outlet.say([ByteString::from(rejection)]).await?;
                }
                Some(Err(error)) => return Err(error.into()),
            },
            message = messages.recv() => match message {
                // The queue was full: the room has dropped this client.
                None => return Ok(()),
                Some(message) => {
                    // All queued messages go into the same write.
                    let waiting = iter::from_fn(|| messages.try_recv().ok());
                    outlet.say(iter::once(message).chain(waiting)).await?;
                }
            },
        }
    }
}

/// The writing half of a connection.
struct Outlet {
    writer: Utf8Writer<OwnedWriteHalf>,
    patience: Duration,
}

impl Outlet {
    /// Sends messages, one per line.
    async fn say(&mut self, messages: impl IntoIterator<Item = ByteString>) -> Result<()> {
        let sent = timeout(self.patience, async {
            for message in messages {
                self.writer.write_text(message).await?;
                self.writer.write_char('\n').await?;
            }
            self.writer.flush().await
        });
        Ok(sent.await??)
    }
}

/// The connected clients.
#[derive(Clone, Default)]
struct Room(Arc<Mutex<Members>>);

#[derive(Default)]
struct Members {
    next: u64,
    members: BTreeMap<u64, Member>,
}

struct Member {
    name: String,
    /// `None` after the queue was full: the client's task sees the closed queue, and ends.
    messages: Option<Sender<ByteString>>,
}

impl Room {
    /// Adds a client, unless there are `max` already.
    fn enter(&self, name: &str, max: usize) -> Option<(u64, Receiver<ByteString>)> {
        let mut room = self.lock();
        if room.members.len() >= max {
            return None;
        }
        let (messages, receiver) = mpsc::channel(MAX_WAITING);
        let id = room.next;
        room.next += 1;
        room.members.insert(id, Member { name: name.to_owned(), messages: Some(messages) });
        let count = room.members.len();
        room.tell(format!("* welcome, {name}: {count} here"), |to| to == id);
        room.tell(format!("* {name} has joined"), |to| to != id);
        Some((id, receiver))
    }

    fn say(&self, id: u64, line: &Line) {
        let mut room = self.lock();
        let Some(member) = room.members.get(&id) else { return };
        let message = format!("{}: {}", member.name, line.text);
        room.tell(message, |to| to != id);
    }

    fn leave(&self, id: u64, damaged: u64) {
        let mut room = self.lock();
        let Some(Member { name, .. }) = room.members.remove(&id) else { return };
        let damage = match damaged {
            0 => String::new(),
            n => format!("; invalid parts replaced: {n}"),
        };
        room.tell(format!("* {name} has left{damage}"), |_| true);
    }

    fn lock(&self) -> MutexGuard<'_, Members> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Members {
    /// Queues a message for some clients, and drops those whose queue is full.
    fn tell(&mut self, message: String, who: impl Fn(u64) -> bool) {
        let message = ByteString::from(message);
        for (_, to) in self.members.iter_mut().filter(|(id, _)| who(**id)) {
            to.messages = to.messages.take().filter(|to| to.try_send(message.clone()).is_ok());
        }
    }
}

// ---- the clients that follow a script -----------------------------------------------------------

async fn talk_by_script(arguments: &Arguments) -> Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tokio::select! {
        ended = serve(listener, arguments) => ended,
        ended = timeout(Duration::from_secs(60), script(address, arguments.max_line)) => ended?,
    }
}

async fn script(address: SocketAddr, max_line: usize) -> Result<()> {
    let mut ada = Client::connect("Ada", address).await?;
    ada.send(&[b"Ada\n"]).await?;
    ada.expect("* welcome, Ada: 1 here").await?;

    let mut bob = Client::connect("Böb", address).await?;
    bob.send(&[b"B\xC3", b"\xB6b\r\n"]).await?;
    bob.expect("* welcome, Böb: 2 here").await?;
    ada.expect("* Böb has joined").await?;

    let greeting = "Grüße aus 東京 👋\n";
    ada.send(&greeting.as_bytes().chunks(1).collect::<Vec<_>>()).await?;
    bob.expect("Ada: Grüße aus 東京 👋").await?;

    // Latin-1, then a character whose last byte is missing.
    bob.send(&[b"caf\xE9 au lait\n", b"5 \xE2\x82", b"\n"]).await?;
    ada.expect("Böb: caf\u{FFFD} au lait").await?;
    ada.expect("Böb: 5 \u{FFFD}").await?;

    ada.send(&[b"\x1B[31mred\n"]).await?;
    bob.expect("Ada: \u{FFFD}[31mred").await?;

    let long = "é".repeat(max_line);
    bob.send(&[long.as_bytes(), b"\n", "in short: é\n".as_bytes()]).await?;
    bob.expect(&format!("* line 4 is longer than {max_line} bytes: dropped")).await?;
    ada.expect("Böb: in short: é").await?;

    bob.send(&[b"bye"]).await?;
    bob.leave().await?;
    ada.expect("Böb: bye").await?;
    ada.expect("* Böb has left; invalid parts replaced: 2").await?;
    ada.leave().await?;
    say("Each client has received the expected lines.")?;
    Ok(())
}

struct Client {
    name: &'static str,
    lines: Lines,
    writer: OwnedWriteHalf,
}

impl Client {
    async fn connect(name: &'static str, address: SocketAddr) -> Result<Self> {
        let socket = TcpStream::connect(address).await?;
        socket.set_nodelay(true)?;
        let (reader, writer) = socket.into_split();
        Ok(Self { name, lines: FramedRead::new(reader, Utf8LinesCodec::new()), writer })
    }

    /// Sends bytes, each piece in its own write.
    async fn send(&mut self, pieces: &[&[u8]]) -> Result<()> {
        for piece in pieces {
            let shown: Vec<_> = piece.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
            let more = if piece.len() > shown.len() { " ..." } else { "" };
            say(format_args!("{:>4} sends     {}{more}", self.name, shown.join(" ")))?;
            self.writer.write_all(piece).await?;
            // So that the piece is likely to arrive alone.
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        Ok(())
    }

    /// Waits for the next line, and compares it.
    async fn expect(&mut self, expected: &str) -> Result<()> {
        let line = self.lines.next().await.ok_or("the server closed the connection")???;
        say(format_args!("{:>4} receives  {}", self.name, line.text))?;
        match line == expected {
            true => Ok(()),
            false => Err(format!("{} expected: {expected}", self.name).into()),
        }
    }

    /// Ends the output, and waits for the server to close the connection.
    async fn leave(&mut self) -> Result<()> {
        self.writer.shutdown().await?;
        match self.lines.next().await {
            None => Ok(()),
            Some(_) => Err(format!("{} expected the end", self.name).into()),
        }
    }
}
