//! A chat server: lines of text over TCP, with a limit on everything a client can make it hold.
//!
//! ```text
//! cargo run --release --example chat -- [--listen ADDR] [OPTIONS]
//! ```
//!
//! The first line that a client sends is its name; every other goes to all others in the room. Any
//! client of lines will do: `nc 127.0.0.1 7777`.
//!
//! - Bytes that are not UTF-8, and control characters, which might play with somebody's terminal,
//!   become U+FFFD; how many, the room is told when the client leaves. Nobody is thrown out for them.
//! - A line longer than `--max-line` is dropped, and its sender told; the next one counts again.
//! - A client that does not read what it is sent is disconnected when 64 messages wait for it, or when
//!   some cannot be written within `--patience`.
//!
//! Both halves of a connection live in one task, in a `select!`: whichever future loses is dropped, and
//! loses nothing. A message is encoded once, and its memory shared by all connections.
//!
//! With no argument at all the server runs on a loopback socket, and a pair of clients talk to it by
//! script, in pieces that cut characters in two; the program exits with 0 if each received what it
//! should have.

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
use tokio::sync::mpsc::{self, Receiver, Sender};
use tokio::time::timeout;
use tokio_util::codec::FramedRead;
use utf8_codec::codec::Utf8LinesCodec;
use utf8_codec::lines::{Line, LineError, LineErrorKind};
use utf8_codec::stream::Utf8Writer;
use utf8_codec::{ByteString, ErrorMode, Strictness, Utf8Options, boundary};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Lets people on the network talk to each other, line by line.
///
/// Without --listen: runs a pair of clients that talk by script.
#[derive(Clone, Parser)]
struct Arguments {
    /// Serves at this address until it is interrupted (port 0: any).
    #[arg(long, value_name = "ADDR")]
    listen: Option<String>,
    /// The longest line, in bytes.
    #[arg(long, value_name = "BYTES", default_value_t = 1000)]
    max_line: usize,
    /// How many clients are let in.
    #[arg(long, value_name = "N", default_value_t = 100)]
    max_clients: usize,
    /// How long a client may take to accept messages, or to say its name, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    patience: u64,
}

/// The longest name, in bytes; a longer one is cut.
const MAX_NAME: usize = 24;

/// How many messages may wait for a client.
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
            eprintln!("chat: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn listen(address: &str, arguments: &Arguments) -> Result<()> {
    let listener = TcpListener::bind(address).await?;
    println!("listening on {}", listener.local_addr()?);
    serve(listener, arguments).await
}

// ---- the server ---------------------------------------------------------------------------------

async fn serve(listener: TcpListener, arguments: &Arguments) -> Result<()> {
    let room = Room::default();
    loop {
        // Of a connection that fails before it is there, nobody else need know.
        let Ok((socket, _)) = listener.accept().await else { continue };
        let (room, arguments) = (room.clone(), arguments.clone());
        tokio::spawn(async move {
            // However a client goes, it has gone.
            let _gone = attend(socket, &room, &arguments).await;
        });
    }
}

type Lines = FramedRead<OwnedReadHalf, Utf8LinesCodec>;

/// Attends to one client, from its name to its end.
async fn attend(socket: TcpStream, room: &Room, arguments: &Arguments) -> Result<()> {
    socket.set_nodelay(true)?;
    let (reader, writer) = socket.into_split();
    let strictness = Strictness::new().refuse_nul().refuse_controls_except_whitespace();
    let codec = Utf8LinesCodec::new()
        .with_options(Utf8Options::new().with_strictness(strictness))
        .with_error_mode(ErrorMode::Replacement)
        .with_max_length(arguments.max_line);
    let mut lines = FramedRead::new(reader, codec);
    let patience = Duration::from_secs(arguments.patience);
    let mut outlet = Outlet { writer: Utf8Writer::new(writer), patience };

    let Some(Ok(name)) = timeout(patience, lines.next()).await?.transpose()? else { return Ok(()) };
    let name = boundary::truncate(name.trim(), MAX_NAME);
    let Some((id, mut messages)) = room.enter(name, arguments.max_clients) else {
        return outlet.say([ByteString::from("* the room is full")]).await;
    };
    let talked = talk(&mut lines, &mut outlet, &mut messages, room, id).await;
    room.leave(id, lines.decoder().decoder().error_count());
    talked
}

/// Hands on what the client says, and what it is told, until either has an end.
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
                Some(Err(LineError { number, kind: LineErrorKind::TooLong { max_length: limit }, .. })) => {
                    let refusal = format!("* line {number} is longer than {limit} bytes: dropped");
                    outlet.say([ByteString::from(refusal)]).await?;
                }
                Some(Err(error)) => return Err(error.into()),
            },
            message = messages.recv() => match message {
                // The room has given this client up.
                None => return Ok(()),
                Some(message) => {
                    // What else waits goes out in the same write.
                    let waiting = iter::from_fn(|| messages.try_recv().ok());
                    outlet.say(iter::once(message).chain(waiting)).await?;
                }
            },
        }
    }
}

/// Where a client is told something.
struct Outlet {
    writer: Utf8Writer<OwnedWriteHalf>,
    patience: Duration,
}

impl Outlet {
    /// Sends messages, a line each.
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

/// Who is there.
#[derive(Clone, Default)]
struct Room(Arc<Mutex<Members>>);

#[derive(Default)]
struct Members {
    next: u64,
    members: BTreeMap<u64, Member>,
}

struct Member {
    name: String,
    /// None once too many are waiting: whoever attends to the client hears of it, and goes.
    messages: Option<Sender<ByteString>>,
}

impl Room {
    /// Lets somebody in, unless `max` are there.
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
        room.tell(format!("* {name} has come"), |to| to != id);
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
            n => format!("; {n} of what was sent was not acceptable"),
        };
        room.tell(format!("* {name} has left{damage}"), |_| true);
    }

    fn lock(&self) -> MutexGuard<'_, Members> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Members {
    /// Sends a message to some, and gives up those who have too many waiting.
    fn tell(&mut self, message: String, who: impl Fn(u64) -> bool) {
        let message = ByteString::from(message);
        for (_, to) in self.members.iter_mut().filter(|(id, _)| who(**id)) {
            to.messages = to.messages.take().filter(|to| to.try_send(message.clone()).is_ok());
        }
    }
}

// ---- the clients, by script ---------------------------------------------------------------------

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
    ada.expect("* Böb has come").await?;

    let greeting = "Grüße aus 東京 👋\n";
    ada.send(&greeting.as_bytes().chunks(1).collect::<Vec<_>>()).await?;
    bob.expect("Ada: Grüße aus 東京 👋").await?;

    // Latin-1, and then a character of which half never comes.
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
    ada.expect("* Böb has left; 2 of what was sent was not acceptable").await?;
    ada.leave().await?;
    println!("Everybody has heard what they should have.");
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

    /// Sends bytes, each piece by itself.
    async fn send(&mut self, pieces: &[&[u8]]) -> Result<()> {
        for piece in pieces {
            let shown: Vec<_> = piece.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
            let more = if piece.len() > shown.len() { " ..." } else { "" };
            println!("{:>4} sends  {}{more}", self.name, shown.join(" "));
            self.writer.write_all(piece).await?;
            // Long enough for the piece to arrive alone.
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        Ok(())
    }

    /// Waits for the next line, and compares.
    async fn expect(&mut self, expected: &str) -> Result<()> {
        let line = self.lines.next().await.ok_or("the server has hung up")???;
        println!("{:>4} hears  {}", self.name, line.text);
        match line == expected {
            true => Ok(()),
            false => Err(format!("{} should have heard: {expected}", self.name).into()),
        }
    }

    /// Says that no more will come, and waits until the server has taken note.
    async fn leave(&mut self) -> Result<()> {
        self.writer.shutdown().await?;
        match self.lines.next().await {
            None => Ok(()),
            Some(_) => Err(format!("{} should have heard nothing more", self.name).into()),
        }
    }
}
