//! The sample that `check` sends itself, the pieces that the decoder must return, and how they are printed.

use std::io;
use std::ops::ControlFlow;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use utf8_codec::{BomPolicy, Utf8Error, Utf8ErrorKind, Utf8Options};

use super::files::{CONNECT_TIMEOUT, Source};
use super::output::put;
use super::terminal::{Paint, Verdict, Visible, complain, counted, hex};
use super::{BOM, Inspector, Report, what};

/// The text; each `{name}` becomes ill-formed bytes.
const SAMPLE: &str = "\
Good morning, café{overlong}!
Καλημέρα, θάλασσα.
Доброе{surrogate} утро.
בוקר טוב, ים.
صباح الخير يا بحر.
सुप्रभात, नदी।{invalid}
สวัสดีตอนเช้า
დილა{truncated} მშვიდობისა.
早上好，大海。おはよう。
좋은 아침{large}, 바다!
être: an accent that combines.
👩‍🚀 👨‍👩‍👧 🏳️‍🌈 {incomplete}
";

type Errors = &'static [(u64, Utf8ErrorKind)];

/// The bytes for each `{name}` in the sample, and the errors they must cause: relative offset and kind.
#[rustfmt::skip]
const DAMAGE: [(&str, &[u8], Errors); 6] = [
    ("overlong", b"\xC0\xAF",
        &[(0, Utf8ErrorKind::Overlong), (1, Utf8ErrorKind::UnexpectedContinuation)]),
    ("surrogate", b"\xED\xA0\x80",
        &[(0, Utf8ErrorKind::Surrogate), (1, Utf8ErrorKind::UnexpectedContinuation),
          (2, Utf8ErrorKind::UnexpectedContinuation)]),
    ("invalid", b"\xFF", &[(0, Utf8ErrorKind::InvalidByte)]),
    ("truncated", b"\xE2\x82", &[(0, Utf8ErrorKind::Truncated)]),
    ("large", b"\xF4\x90",
        &[(0, Utf8ErrorKind::TooLarge), (1, Utf8ErrorKind::UnexpectedContinuation)]),
    ("incomplete", b"\xF0\x9F\x8E", &[(0, Utf8ErrorKind::Incomplete)]),
];

/// The sizes of the pieces that are sent, in a cycle. They split the BOM twice, and many characters.
const CUTS: [usize; 12] = [1, 1, 1, 7, 12, 1, 10, 4, 13, 2, 11, 5];
const PAUSE: Duration = Duration::from_millis(20);

/// A stream, and its text and errors.
#[derive(Default)]
struct Sample {
    bytes: Vec<u8>,
    text: String,
    errors: Vec<(u64, Utf8ErrorKind)>,
}

impl Sample {
    fn new() -> Self {
        let mut sample = Self { bytes: BOM.to_vec(), ..Self::default() };
        for part in SAMPLE.trim_end().split('{') {
            let (damage, text) = part.split_once('}').unwrap_or(("", part));
            for (_, bytes, errors) in DAMAGE.iter().filter(|row| row.0 == damage) {
                let at = sample.bytes.len() as u64;
                sample.bytes.extend_from_slice(bytes);
                sample.errors.extend(errors.iter().map(|&(offset, kind)| (at + offset, kind)));
            }
            sample.bytes.extend_from_slice(text.as_bytes());
            sample.text.push_str(text);
        }
        sample
    }
}

/// Sends the sample over a loopback socket, and prints what arrives and what the decoder returns.
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
    let expected = Sample::new();
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let source = Source::Connect(listener.local_addr()?.to_string());
    let options = Utf8Options::new().with_bom(BomPolicy::Strip);
    let mut inspector = Inspector::new(&source, options, usize::MAX);

    put(format_args!(
        "{} of text in many scripts, damaged in {} places, arrive over a socket, a few at a time.\n\
         The decoder returns a character as soon as it is complete. It holds only the bytes of an\n\
         incomplete one.\n\n",
        counted(expected.bytes.len() as u64, "byte"),
        DAMAGE.len(),
    ))?;
    put(paint.faint(&row(["byte", "arrives", "held", "returned"])))?;
    let receiving = async {
        let socket = TcpStream::connect(listener.local_addr()?).await?;
        receive(socket, &mut inspector, paint).await
    };
    let ((), received) = tokio::try_join!(send(&listener, &expected.bytes), receiving)?;

    let report = inspector.into_report(None);
    put(format_args!("\n{}", report.to_text(paint)))?;
    settle(&expected, &received, &report, paint)
}

async fn send(listener: &TcpListener, mut bytes: &[u8]) -> io::Result<()> {
    let (mut socket, _) = listener.accept().await?;
    socket.set_nodelay(true)?;
    for cut in CUTS.into_iter().cycle() {
        let (piece, rest) = bytes.split_at(cut.min(bytes.len()));
        if piece.is_empty() {
            break;
        }
        socket.write_all(piece).await?;
        tokio::time::sleep(PAUSE).await;
        bytes = rest;
    }
    socket.shutdown().await
}

/// Reads to the end and prints every chunk. The network may split or join the pieces that were sent.
async fn receive(
    mut socket: TcpStream,
    inspector: &mut Inspector,
    paint: Paint,
) -> io::Result<Sample> {
    let mut received = Sample::default();
    let mut buffer = [0; 64];
    loop {
        let len = socket.read(&mut buffer).await?;
        let at = inspector.decoder.position();
        let pieces = pieces(inspector, &buffer[..len]);
        for piece in &pieces {
            match piece {
                Ok(text) => received.text += text,
                Err(error) => received.errors.push((error.valid_up_to(), error.kind())),
            }
        }
        let mut outcomes: Vec<_> = pieces.iter().map(|piece| in_words(piece, paint)).collect();
        if at < BOM.len() as u64 && inspector.decoder.bom_seen() {
            outcomes.insert(0, paint.good("byte order mark, removed"));
        }
        show_chunk(at, &buffer[..len], inspector.decoder.incomplete(), &outcomes)?;
        if len == 0 {
            return Ok(received);
        }
    }
}

/// The pieces of a chunk; an empty chunk is the end. Joins consecutive texts, because a split character is
/// a piece of its own.
fn pieces(inspector: &mut Inspector, chunk: &[u8]) -> Vec<Result<String, Utf8Error>> {
    let mut pieces = Vec::new();
    let each = |piece: Result<&str, Utf8Error>| {
        match (pieces.last_mut(), piece) {
            (Some(Ok(before)), Ok(text)) => String::push_str(before, text),
            _ => pieces.push(piece.map(str::to_owned)),
        }
        ControlFlow::Continue(())
    };
    let _ = match chunk {
        [] => inspector.finish(each),
        chunk => inspector.push(chunk, each),
    };
    pieces
}

fn in_words(piece: &Result<String, Utf8Error>, paint: Paint) -> String {
    match piece {
        Ok(text) => format!("\"{}\"", Visible(text)),
        Err(error) => paint.bad(&what(error)),
    }
}

/// The bytes in a row.
const ROW: usize = 13;
const WIDTH: usize = 3 * ROW - 1;

fn show_chunk(at: u64, chunk: &[u8], held: &[u8], outcomes: &[String]) -> io::Result<()> {
    let mut rows = chunk.chunks(ROW).map(hex).collect::<Vec<_>>();
    if chunk.is_empty() {
        rows.push("the end".to_owned());
    }
    for n in 0..rows.len().max(outcomes.len()) {
        let (at, held) = if n == 0 { (at.to_string(), hex(held)) } else { Default::default() };
        let arrived = rows.get(n).map_or("", String::as_str);
        let outcome = outcomes.get(n).map_or("", String::as_str);
        put(row([&at, arrived, &held, outcome]))?;
    }
    Ok(())
}

fn row([at, arrived, held, outcome]: [&str; 4]) -> String {
    format!("{at:>5}  {arrived:<WIDTH$}  {held:<8}  {outcome}").trim_end().to_owned() + "\n"
}

/// Compares what was received with the sample.
fn settle(
    expected: &Sample,
    received: &Sample,
    report: &Report,
    paint: Paint,
) -> io::Result<Verdict> {
    let is_right = received.text == expected.text
        && received.errors == expected.errors
        && report.bytes == expected.bytes.len() as u64
        && report.bom == "removed";
    if !is_right {
        put(format_args!(
            "\n{}\n",
            paint.bad("The text or the errors are not those of the sample.")
        ))?;
        return Ok(Verdict::IllFormed);
    }
    let in_text = received.text.len() as u64;
    put(format_args!(
        "\n{} {} in text, {} in {}, {} in the byte order mark.\n\
         No well-formed text is lost, and every error is where the sample was damaged.\n",
        paint.good("Every byte is accounted for:"),
        in_text,
        report.bytes - in_text - BOM.len() as u64,
        counted(report.error_count, "error"),
        BOM.len(),
    ))?;
    Ok(Verdict::WellFormed)
}
