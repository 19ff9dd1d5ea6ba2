//! A server of JSON-RPC 2.0 over standard input and output, one message per line, as in the Model Context
//! Protocol. A line that is damaged, too long or not JSON is answered, and the session continues.
//!
//! It shows `Utf8LinesCodec`, whose items are lines or errors.
//!
//! ```text
//! $ printf '%s\n' '{"jsonrpc":"2.0","id":1,"method":"count","params":["žluť"]}' '{' |
//!       cargo run --release --example json_rpc -- --stdio
//! {"id":1,"jsonrpc":"2.0","result":4}
//! {"error":{"code":-32700,"data":"line 2: EOF while parsing an object at line 1 column 1","message":"Parse error"},"id":null,"jsonrpc":"2.0"}
//! ```
//!
//! Without arguments, it runs a session with itself over a loopback socket, split in awkward places, prints
//! it, and exits with 0 if every answer is right.
//!
//! - The methods are `echo`, which returns its parameters, and `count`, which returns the number of characters
//!   of a text.
//! - Lines end with LF or CR LF. A BOM at the start is removed. Empty lines are skipped.
//! - A line that is not UTF-8, is longer than `--max-length`, or is not JSON is answered with error -32700. The
//!   identifier of that answer is null, because it is unknown. Nothing is repaired: a replaced character would
//!   silently change a value.
//! - A batch, which is an array of requests, is answered with an array. It has at most `--max-batch` requests.

#[path = "support/output.rs"]
mod output;

use std::io;
use std::net::Ipv4Addr;
use std::process::ExitCode;

use clap::Parser;
use futures::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::codec::{FramedRead, FramedWrite};
use utf8_codec::codec::Utf8LinesCodec;
use utf8_codec::{BomPolicy, Utf8Options};

use output::{complain, say};

/// A server of JSON-RPC over standard input and output.
///
/// Without arguments: runs a session with itself over a loopback socket.
#[derive(Clone, Copy, Debug, Parser)]
#[command(name = "json_rpc")]
struct Arguments {
    /// Serves standard input.
    #[arg(long)]
    stdio: bool,
    /// The longest line, in bytes.
    #[arg(long, value_name = "BYTES", default_value_t = 1 << 20)]
    max_length: usize,
    /// The most requests in a batch.
    #[arg(long, value_name = "N", default_value_t = 100)]
    max_batch: usize,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let outcome = match arguments.stdio {
        true => serve(tokio::io::stdin(), tokio::io::stdout(), arguments).await,
        false => show(arguments).await,
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        // The client has closed its end, and needs no more answers.
        Err(error) if arguments.stdio && error.kind() == io::ErrorKind::BrokenPipe => {
            ExitCode::SUCCESS
        }
        Err(error) => {
            complain(error);
            ExitCode::FAILURE
        }
    }
}

/// Answers the requests in `input` until it ends.
async fn serve(
    input: impl AsyncRead + Unpin,
    output: impl AsyncWrite + Unpin,
    arguments: Arguments,
) -> io::Result<()> {
    let codec = Utf8LinesCodec::new()
        .with_options(Utf8Options::new().with_bom(BomPolicy::Strip))
        .with_max_length(arguments.max_length);
    let mut lines = FramedRead::new(input, codec);
    let mut answers = FramedWrite::new(output, Utf8LinesCodec::new());
    while let Some(line) = lines.next().await {
        let answer = match line? {
            Ok(line) if line.text.trim().is_empty() => None,
            Ok(line) => match serde_json::from_str(&line) {
                Ok(message) => answer_all(message, arguments.max_batch),
                Err(error) => Some(failure(
                    Value::Null,
                    PARSE_ERROR,
                    format!("line {}: {error}", line.number),
                )),
            },
            Err(error) => Some(failure(Value::Null, PARSE_ERROR, error.to_string())),
        };
        if let Some(answer) = answer {
            // JSON has no line end of its own: serde_json escapes those in strings.
            answers.send(answer.to_string()).await?;
        }
    }
    Ok(())
}

/// An error of the protocol: its code and its message (JSON-RPC 2.0 section 5.1).
type Code = (i32, &'static str);

const PARSE_ERROR: Code = (-32700, "Parse error");
const INVALID_REQUEST: Code = (-32600, "Invalid Request");
const METHOD_NOT_FOUND: Code = (-32601, "Method not found");
const INVALID_PARAMS: Code = (-32602, "Invalid params");

fn failure(id: Value, (code, message): Code, data: impl Into<Value>) -> Value {
    let error = json!({ "code": code, "message": message, "data": data.into() });
    json!({ "jsonrpc": "2.0", "id": id, "error": error })
}

/// Answers a request or a batch. Notifications have no answer.
fn answer_all(message: Value, max_batch: usize) -> Option<Value> {
    let Value::Array(batch) = message else { return answer(message) };
    if batch.is_empty() || batch.len() > max_batch {
        let data = format!("a batch has 1 to {max_batch} requests, not {}", batch.len());
        return Some(failure(Value::Null, INVALID_REQUEST, data));
    }
    let answers: Vec<_> = batch.into_iter().filter_map(answer).collect();
    (!answers.is_empty()).then_some(Value::Array(answers))
}

fn answer(mut request: Value) -> Option<Value> {
    let id = request.get("id").cloned();
    let is_id = matches!(id, None | Some(Value::Null | Value::Number(_) | Value::String(_)));
    let method = request["method"].as_str().map(str::to_owned);
    let (Some(method), true, "2.0") = (method, is_id, request["jsonrpc"].as_str().unwrap_or(""))
    else {
        let id = id.filter(|_| is_id).unwrap_or_default();
        return Some(failure(id, INVALID_REQUEST, "a request has a version, a method and an id"));
    };
    let outcome = call(&method, request["params"].take());
    let id = id?; // a notification
    Some(match outcome {
        Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
        Err((code, data)) => failure(id, code, data),
    })
}

fn call(method: &str, params: Value) -> Result<Value, (Code, String)> {
    match method {
        "echo" => Ok(params),
        "count" => match params[0].as_str() {
            Some(text) => Ok(json!(text.chars().count())),
            None => Err((INVALID_PARAMS, "count needs an array with a text".to_owned())),
        },
        _ => Err((METHOD_NOT_FOUND, format!("there is no method {method:?}"))),
    }
}

/// Runs a session over a loopback socket, and checks each answer.
async fn show(arguments: Arguments) -> io::Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let address = listener.local_addr()?;
    let server = async {
        let (input, output) = listener.accept().await?.0.into_split();
        serve(input, output, arguments).await
    };
    let client = async {
        let socket = TcpStream::connect(address).await?;
        socket.set_nodelay(true)?;
        let (input, mut output) = socket.into_split();
        let mut answers = FramedRead::new(input, Utf8LinesCodec::new());
        for (request, expected) in SESSION {
            for piece in request.chunks(7) {
                output.write_all(piece).await?;
            }
            let Some(expected) = expected else { continue };
            let line = answers.next().await.ok_or(io::ErrorKind::UnexpectedEof)??;
            let line = line.map_err(io::Error::other)?;
            let request = request.escape_ascii().to_string().replace("\\n", "\n");
            say(format_args!("> {request}< {line}"))?;
            if !line.contains(expected) {
                return Err(io::Error::other(format!("an answer without {expected}")));
            }
        }
        say("ok: every line is answered")
    };
    tokio::try_join!(server, client).map(|_| ())
}

/// Lines, and a part of the answer; `None` for a line without one.
const SESSION: [(&[u8], Option<&str>); 7] = [
    (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"count\",\"params\":[\"caf\xC3\xA9\"]}\n", Some("\"result\":4")),
    (b"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"count\",\"params\":[\"caf\xE9\"]}\n", Some("-32700")),
    (b"{\"jsonrpc\":\"2.0\",\"method\":\"echo\",\"params\":[]}\n", None),
    (b"{\"jsonrpc\":\"2.0\",\"id\":3\n", Some("-32700")),
    (b"{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"nothing\"}\n", Some("-32601")),
    (b"[]\n", Some("-32600")),
    (b"{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"echo\",\"params\":[\"\xF0\x9F\xA6\x80\"]}\n", Some("🦀")),
];
