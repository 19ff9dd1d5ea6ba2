//! A tokenizer over the `char`s of a socket: words, numbers, literals and symbols, each with its line, column
//! and offset, while the text is still arriving.
//!
//! It shows `CharStream` as the input of a lexer (the type `Lexer`): `peek` at the next `char`, read `as_str`
//! to find the end of a token, and `advance` past it.
//!
//! ```text
//! cargo run --release --example lexer
//! ```
//!
//! It sends itself a program over a loopback socket, a few bytes at a time, split inside characters and
//! literals, with one byte that is not UTF-8. It prints each token as soon as it is found, and exits with 0
//! if the tokens are those of the whole text in one piece.

#[path = "support/output.rs"]
mod output;

use std::error::Error;
use std::io;
use std::net::Ipv4Addr;
use std::process::ExitCode;
use std::time::Duration;

use bytes::Bytes;
use clap::Parser;
use futures::{StreamExt, TryStream};
use tokio::io::{AsyncWriteExt, DuplexStream};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{sleep, timeout};

use utf8_codec::stream::{CharStream, StreamError, Utf8Stream};
use utf8_codec::{TextPosition, Utf8Error};

use output::{complain, say};

/// Prints the tokens of a program while it arrives over a loopback socket, a few bytes at a time.
#[derive(Parser)]
#[command(name = "lexer")]
struct Arguments {}

/// The program that is sent, with the damage between the two parts.
const PROGRAM: [&str; 2] = [
    "größe = länge * 2 # ﬂächig\nπ = 3.14159\n挨拶 = \"こんにちは、",
    "世界 👋🏽\"\nпривет(挨拶, größe >= π)\n",
];
const DAMAGE: &[u8] = b"\xFF";

/// The sizes of the pieces that are sent, in a cycle.
const CUTS: [usize; 9] = [1, 2, 1, 1, 3, 5, 1, 4, 7];
const PAUSE: Duration = Duration::from_millis(2);

/// Much longer than the program takes.
const PATIENCE: Duration = Duration::from_secs(30);

/// A token and its line, column and offset.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Token {
    kind: Kind,
    text: String,
    position: TextPosition,
}

impl Token {
    /// Whether its text is that of the bytes at its offset.
    fn is_in(&self, bytes: &[u8]) -> bool {
        let there = &bytes[self.position.offset as usize..];
        let text = if self.kind == Kind::IllFormed { DAMAGE } else { self.text.as_bytes() };
        there.starts_with(text)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Word,
    Number,
    /// Between quotes, on one line.
    Literal,
    Symbol,
    /// From `#` to the end of the line.
    Comment,
    /// Bytes that are not UTF-8; the text describes the error.
    IllFormed,
}

/// Splits a stream of `char`s into tokens.
struct Lexer<S> {
    chars: CharStream<S>,
    /// That of the next `char` or error.
    position: TextPosition,
}

impl<S> Lexer<S>
where
    S: TryStream<Ok: Into<Bytes>, Error = io::Error> + Unpin,
{
    fn new(chars: CharStream<S>) -> Self {
        Self { chars, position: TextPosition::new() }
    }

    /// Returns the next token, or `None` at the end.
    async fn next(&mut self) -> Result<Option<Token>, Box<dyn Error>> {
        loop {
            let first = match self.chars.peek().await {
                None => return Ok(None),
                Some(Ok(first)) => first,
                Some(Err(_)) => return self.take_error().await,
            };
            let position = self.position;
            let mut text = String::new();
            let kind = match first {
                c if c.is_whitespace() => {
                    self.take_while(&mut text, char::is_whitespace).await;
                    continue;
                }
                c if c.is_alphabetic() || c == '_' => {
                    self.take_while(&mut text, |c| c.is_alphanumeric() || c == '_').await;
                    Kind::Word
                }
                c if c.is_ascii_digit() => {
                    self.take_while(&mut text, |c| c.is_ascii_digit() || c == '.').await;
                    Kind::Number
                }
                '#' => {
                    self.take_while(&mut text, |c| c != '\n').await;
                    Kind::Comment
                }
                '"' => {
                    self.take(&mut text, 1);
                    self.take_while(&mut text, |c| c != '"' && c != '\n').await;
                    if let Some(Ok('"')) = self.chars.peek().await {
                        self.take(&mut text, 1);
                    }
                    Kind::Literal
                }
                c => {
                    self.take(&mut text, c.len_utf8());
                    Kind::Symbol
                }
            };
            return Ok(Some(Token { kind, text, position }));
        }
    }

    /// Returns an ill-formed part as a token, and any other error as an error.
    async fn take_error(&mut self) -> Result<Option<Token>, Box<dyn Error>> {
        match self.chars.next().await {
            Some(Err(StreamError::Utf8(error))) => {
                let position = self.position;
                self.position.push_error(&error);
                Ok(Some(Token { kind: Kind::IllFormed, text: what(&error), position }))
            }
            Some(Err(error)) => Err(error.into()),
            Some(Ok(_)) | None => Ok(None),
        }
    }

    /// Takes the characters that belong to the token, a slice at a time. Stops before an error, and at [`MAX_TOKEN`].
    async fn take_while(&mut self, text: &mut String, belongs: impl Fn(char) -> bool) {
        while text.len() < MAX_TOKEN
            && let Some(Ok(_)) = self.chars.peek().await
        {
            let run = self.chars.as_str();
            let len = run.find(|c| !belongs(c)).unwrap_or(run.len());
            let is_over = len < run.len();
            self.take(text, len);
            if is_over {
                break;
            }
        }
    }

    /// Takes the first `len` bytes of the decoded text.
    fn take(&mut self, text: &mut String, len: usize) {
        let taken = &self.chars.as_str()[..len];
        text.push_str(taken);
        self.position.push(taken);
        self.chars.advance(len);
    }
}

/// A longer token is returned in parts: what the peer sends has no end.
const MAX_TOKEN: usize = 64 << 10;

fn what(error: &Utf8Error) -> String {
    format!("{error:#}")
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let Arguments {} = Arguments::parse();
    match show().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(error);
            ExitCode::FAILURE
        }
    }
}

async fn show() -> Result<(), Box<dyn Error>> {
    let program = [PROGRAM[0].as_bytes(), DAMAGE, PROGRAM[1].as_bytes()].concat();
    let received = timeout(PATIENCE, over_a_socket(&program)).await??;
    let expected = at_once(&program).await?;
    if received != expected || !received.iter().all(|token| token.is_in(&program)) {
        return Err("the tokens differ from those of the whole text".into());
    }
    let (tokens, bytes) = (received.len(), program.len());
    say(format_args!("\n{tokens} tokens of {bytes} bytes, the same as those of the whole text."))?;
    Ok(())
}

/// Sends the program over a socket in pieces, and prints the tokens.
async fn over_a_socket(program: &[u8]) -> Result<Vec<Token>, Box<dyn Error>> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let connecting = TcpStream::connect(listener.local_addr()?);
    let (socket, (peer, _)) = tokio::try_join!(connecting, listener.accept())?;

    say(format_args!("{:>6} {:>6} {:>6}  {:<9}  text", "byte", "line", "column", "kind"))?;
    let receiving = async {
        let mut lexer = Lexer::new(Utf8Stream::from_reader(socket).chars());
        let mut tokens = Vec::new();
        while let Some(token) = lexer.next().await? {
            let Token { kind, text, position } = &token;
            let TextPosition { line, column, offset, .. } = position;
            let kind = format!("{kind:?}");
            say(format_args!("{offset:>6} {line:>6} {column:>6}  {kind:<9}  {text}"))?;
            tokens.push(token);
        }
        Ok(tokens)
    };
    let (sent, received) = tokio::join!(send(peer, program), receiving);
    sent?;
    received
}

async fn send(mut peer: TcpStream, mut bytes: &[u8]) -> io::Result<()> {
    peer.set_nodelay(true)?;
    for cut in CUTS.into_iter().cycle() {
        let (piece, rest) = bytes.split_at(cut.min(bytes.len()));
        if piece.is_empty() {
            break;
        }
        peer.write_all(piece).await?;
        sleep(PAUSE).await;
        bytes = rest;
    }
    peer.shutdown().await
}

/// Returns the tokens of the whole program, sent in one piece.
async fn at_once(program: &[u8]) -> Result<Vec<Token>, Box<dyn Error>> {
    let (mut peer, pipe): (DuplexStream, _) = tokio::io::duplex(program.len());
    peer.write_all(program).await?;
    drop(peer);
    let mut lexer = Lexer::new(Utf8Stream::from_reader(pipe).chars());
    let mut tokens = Vec::new();
    while let Some(token) = lexer.next().await? {
        tokens.push(token);
    }
    Ok(tokens)
}
