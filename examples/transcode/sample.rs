//! The program without arguments: sends a text over sockets in every encoding, and transcodes it to every other.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use utf8_codec::ErrorMode;
use utf8_codec::fallback::LegacyEncoding;

use super::files::CONNECT_TIMEOUT;
use super::output::put;
use super::reading::{Extent, FROM, From, Piece, Settings};
use super::terminal::{Paint, Verdict, Visible, complain, counted, hex};
use super::writing::{TO, To, Writing};
use super::{Job, Outcome, Progress, When, copy};

/// A text with characters that the encodings represent differently: NUL, and characters above U+FFFF.
const TEXT: &str = "nul: \0, größer, 10 €, 日本語, \u{1F980}\u{1F600}!";

/// A file name in 16-bit units, with an unpaired surrogate.
const NAME: [u16; 6] = [0x63, 0x61, 0xD83D, 0x66, 0xE9, 0x2E];

/// The sizes of the pieces that are sent, in a cycle.
const CUTS: [usize; 9] = [3, 3, 1, 8, 2, 5, 7, 4, 1];
const PAUSE: Duration = Duration::from_millis(10);

/// Sends the samples over loopback sockets, and prints the results.
pub(crate) async fn show(paint: Paint) -> Verdict {
    let performance = tokio::time::timeout(CONNECT_TIMEOUT, perform(paint)).await;
    match performance.map_err(io::Error::from).flatten() {
        Ok(verdict) => verdict,
        Err(error) => {
            complain(format_args!("the sample: {error}"));
            Verdict::IllFormed
        }
    }
}

async fn perform(paint: Paint) -> io::Result<Verdict> {
    let mut is_right = watch(paint).await?;
    is_right &= every_pair(paint).await?;
    is_right &= half_a_pair(paint).await?;
    if is_right {
        put(format_args!("\n{}\n", paint.good("Every byte is right.")))?;
        Ok(Verdict::WellFormed)
    } else {
        put(format_args!("\n{}\n", paint.bad("The output is wrong.")))?;
        Ok(Verdict::IllFormed)
    }
}

/// Modified UTF-8 to UTF-16, piece by piece.
async fn watch(paint: Paint) -> io::Result<bool> {
    let (from, to) = (form("modified-utf-8"), target("utf-16be"));
    let bytes = encoded(TEXT, target("modified-utf-8"));
    put(format_args!(
        "{} of {} arrive over a socket, a few at a time, and are written as {to}.\n\n",
        counted(bytes.len() as u64, "byte"),
        "modified-utf-8",
    ))?;
    put(paint.faint(&row("byte", "arrives", "text", "written")))?;
    let mut job = job(from, to, ErrorMode::Fatal);
    let mut out = Vec::new();
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let receiving = async {
        let mut socket = TcpStream::connect(listener.local_addr()?).await?;
        let mut buffer = [0; 8];
        loop {
            let len = socket.read(&mut buffer).await?;
            let at = job.outcome.read.to_string();
            let mut text = String::new();
            let _ = job.push_watched(&buffer[..len], |piece| {
                if let Piece::Text(piece) = piece {
                    text.push_str(piece);
                }
            });
            let arrived = if len == 0 { "the end".to_owned() } else { hex(&buffer[..len]) };
            let written = hex(job.writing.bytes());
            put(row(&at, &arrived, &format!("\"{}\"", Visible(&text)), &written))?;
            out.extend_from_slice(job.writing.bytes());
            job.writing.clear();
            if len == 0 {
                return Ok(());
            }
        }
    };
    tokio::try_join!(send(&listener, &bytes, Some(PAUSE)), receiving)?;
    Ok(out == encoded(TEXT, to))
}

fn row(at: &str, arrived: &str, text: &str, written: &str) -> String {
    format!("{at:>5}  {arrived:<23}  {text:<14}  {written}").trim_end().to_owned() + "\n"
}

/// Transcodes each encoding to each other, through a socket.
async fn every_pair(paint: Paint) -> io::Result<bool> {
    put(format_args!("\n{} in every form, to every form:\n\n", Visible(&format!("{TEXT:?}"))))?;
    let mut is_right = true;
    for (name, target) in TO {
        let bytes = encoded(TEXT, target);
        let mut same = 0;
        for (_, to) in TO {
            let mut job = job(form(name), to, ErrorMode::Fatal);
            let out = through_socket(&bytes, &mut job).await?;
            same +=
                u64::from(out == encoded(TEXT, to) && job.outcome.verdict() == Verdict::WellFormed);
        }
        let fate = match same == TO.len() as u64 {
            true => paint.good(&format!("to {}", counted(same, "form"))),
            false => paint.bad(&format!("to {} only", counted(same, "form"))),
        };
        put(format_args!("  {name:<15} {:>3} bytes  {fate}\n", bytes.len()))?;
        is_right &= same == TO.len() as u64;
    }
    Ok(is_right)
}

/// Transcodes an unpaired surrogate, which only some encodings can represent.
async fn half_a_pair(paint: Paint) -> io::Result<bool> {
    let bytes: Vec<_> = NAME.into_iter().flat_map(u16::to_le_bytes).collect();
    put("\nAn unpaired surrogate, in a name of 16-bit units:\n\n")?;
    let mut is_right = true;
    for (to, unencodable, expected, rejected) in [
        ("wtf-8", ErrorMode::Fatal, &b"ca\xED\xA0\xBDf\xC3\xA9."[..], 0),
        ("utf-8", ErrorMode::Fatal, b"ca", 1),
        ("utf-8", ErrorMode::Escape, b"ca\\ud83df\xC3\xA9.", 1),
        ("cesu-8", ErrorMode::Replacement, b"ca\xEF\xBF\xBDf\xC3\xA9.", 1),
    ] {
        let mut job = job(form("utf-16le"), target(to), unencodable);
        let out = through_socket(&bytes, &mut job).await?;
        let Outcome { unencodable, .. } = &job.outcome;
        let fate =
            if rejected == 0 { paint.good("all of it") } else { paint.bad(&unencodable.first) };
        put(format_args!("  {to:<7} {:<36} {fate}\n", hex(&out)))?;
        is_right &= out == expected && unencodable.count == rejected;
    }
    Ok(is_right)
}

/// Sends the bytes and transcodes what arrives.
async fn through_socket(bytes: &[u8], job: &mut Job) -> io::Result<Vec<u8>> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let mut out = Vec::new();
    let receiving = async {
        let socket = TcpStream::connect(listener.local_addr()?).await?;
        let progress = Progress::new(String::new(), None, When::Never);
        let copied = copy(socket, &mut out, job, 64, progress).await;
        copied.map_err(|failure| io::Error::other(failure.in_words()))
    };
    // Sending fails if the receiver stops at an error.
    let (_, received) = tokio::join!(send(&listener, bytes, None), receiving);
    received.map(|()| out)
}

async fn send(listener: &TcpListener, mut bytes: &[u8], pause: Option<Duration>) -> io::Result<()> {
    let (mut socket, _) = listener.accept().await?;
    socket.set_nodelay(true)?;
    for cut in CUTS.into_iter().cycle() {
        let (piece, rest) = bytes.split_at(cut.min(bytes.len()));
        if piece.is_empty() {
            break;
        }
        socket.write_all(piece).await?;
        match pause {
            Some(pause) => tokio::time::sleep(pause).await,
            None => tokio::task::yield_now().await,
        }
        bytes = rest;
    }
    socket.shutdown().await
}

fn job(from: From, to: To, unencodable: ErrorMode) -> Job {
    let fallback = (Extent::Rest, LegacyEncoding::windows_1252());
    let settings = Settings { errors: ErrorMode::Fatal, bom: None, unpaired: false, fallback };
    let writing = Writing::new(to, unencodable, false, false);
    Job { reading: from.reading(settings), writing, outcome: Outcome::default() }
}

/// Returns the text in an encoding.
fn encoded(text: &str, to: To) -> Vec<u8> {
    let mut writing = Writing::new(to, ErrorMode::Fatal, false, false);
    writing.push(text);
    writing.finish();
    writing.bytes().to_vec()
}

fn form(name: &str) -> From {
    FROM.iter().find(|row| row.0 == name).map_or(From::Utf8, |row| row.1)
}

fn target(name: &str) -> To {
    TO.iter().find(|row| row.0 == name).map_or(To::Utf8, |row| row.1)
}
