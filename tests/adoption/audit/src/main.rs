//! Shows what published crates make of a character that is cut in two, or of a line that is not UTF-8. See AUDIT.md.

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use bytes::Bytes;
use futures::StreamExt;
use tokio::time::timeout;

/// What a crate returned.
#[derive(Debug, PartialEq)]
enum Verdict {
    Right,
    /// The value that AUDIT.md names.
    Reproduced,
    /// Such as the error of a server that did not start.
    AnotherValue,
}

fn report(name: &'static str, got: &str, finding: &'static str, right: &'static str) -> Verdict {
    let verdict = match got {
        _ if got == right => Verdict::Right,
        _ if got == finding => Verdict::Reproduced,
        _ => Verdict::AnotherValue,
    };
    println!("{name:<28} {verdict:?}: {got:?}, right is {right:?}");
    verdict
}

/// An event of a chat completion whose content is "é".
const COMPLETION: &str = concat!(
    r#"data: {"id":"1","object":"chat.completion.chunk","created":1,"model":"open-mistral-7b","#,
    r#""choices":[{"index":0,"delta":{"role":"assistant","content":"é"},"finish_reason":null}]}"#,
    "\n\n"
);

/// The text in two parts, between which is the middle of the character.
fn cut(text: &str) -> Vec<Vec<u8>> {
    let middle = text.find('é').map_or(text.len(), |index| index + 1);
    let (first, second) = text.as_bytes().split_at(middle);
    vec![first.to_vec(), second.to_vec()]
}

#[tokio::main]
async fn main() {
    let findings = [
        ollama().await,
        openai().await,
        groq().await,
        mistral().await,
        llm_chunks().await,
        llm_after_an_error().await,
        proxy().await,
        docker_frames(),
        pty(),
        log_of_reads(),
        process_stream().await,
        tokio_process_stream().await,
        interactive_process(),
        reqwest_sse().await,
        orch().await,
        deepseek().await,
        sse_client(),
        log_file().await,
        mcp().await,
        tokens(),
    ];
    ours();

    let table =
        include_str!("../../AUDIT.md").split("## ").nth(1).expect("the findings come first");
    let rows = table.lines().filter(|line| line.starts_with("| `")).count();
    let reproduced = findings.iter().filter(|verdict| **verdict == Verdict::Reproduced).count();
    println!("{reproduced} of the {rows} findings in AUDIT.md are reproduced");
    assert_eq!((reproduced, findings.len()), (rows, rows));
}

async fn ollama() -> Verdict {
    use ollama_rs::Ollama;
    use ollama_rs::generation::chat::ChatMessage;
    use ollama_rs::generation::chat::request::ChatMessageRequest;

    let line = r#"{"model":"m","created_at":"2020-01-01T00:00:00Z","message":{"role":"assistant","content":"é"},"done":false}"#;
    let server = Server::start(cut(&format!("{line}\n")));
    let ollama = Ollama::builder().host("http://127.0.0.1").port(server.port()).build();
    let request = ChatMessageRequest::new("m".into(), vec![ChatMessage::user("a".into())]);
    let mut messages = ollama.send_chat_messages_stream(request).await.expect("it answers");
    let mut text = String::new();
    while let Some(Ok(message)) = messages.next().await {
        text += &message.message.content;
    }
    report("ollama-rs 0.3.6", &text, "", "é")
}

async fn openai() -> Verdict {
    use openai_api_rs::v1::api::OpenAIClient;
    use openai_api_rs::v1::chat_completion::chat_completion_stream::{
        ChatCompletionStreamRequest, ChatCompletionStreamResponse,
    };

    let server = Server::start(cut(COMPLETION));
    let client = OpenAIClient::builder()
        .with_endpoint(server.url())
        .with_api_key("k")
        .build()
        .expect("a client");
    let request = ChatCompletionStreamRequest::new("m".into(), vec![]);
    let mut responses = client.chat_completion_stream(request).await.expect("it answers");
    let mut text = String::new();
    while let Some(response) = responses.next().await {
        if let ChatCompletionStreamResponse::Content(content) = response {
            text += &content;
        }
    }
    report("openai-api-rs 10.0.2", &text, "\u{FFFD}\u{FFFD}", "é")
}

async fn groq() -> Verdict {
    use groqai::{GroqClientBuilder, MessageContent};

    let server = Server::start(cut(COMPLETION));
    let url = format!("{}/", server.url()).parse().expect("a URL");
    let client = GroqClientBuilder::new("gsk_0123456789".into())
        .expect("a key")
        .base_url(url)
        .build()
        .expect("a client");
    let mut chunks = client.chat("m").stream(true).send_stream().await.expect("it answers");
    let mut text = String::new();
    while let Some(Ok(chunk)) = chunks.next().await {
        for choice in chunk.choices {
            if let Some(MessageContent::Text(content)) = choice.delta.content {
                text += &content;
            }
        }
    }
    report("groqai 0.1.10", &text, "\u{FFFD}\u{FFFD}", "é")
}

async fn mistral() -> Verdict {
    use mistralai_client::v1::client::Client;
    use mistralai_client::v1::constants::Model;

    let server = Server::start(cut(COMPLETION));
    let client =
        Client::new(Some("k".into()), Some(server.url()), Some(0), Some(5)).expect("a client");
    let chunks = client.chat_stream(Model::OpenMistral7b, vec![], None).await.expect("it answers");
    let mut text = String::new();
    futures::pin_mut!(chunks);
    while let Some(chunk) = chunks.next().await {
        match chunk {
            Ok(chunks) => chunks
                .iter()
                .flat_map(|chunk| &chunk.choices)
                .for_each(|choice| text += &choice.delta.content),
            Err(error) => text += &format!("[{}]", error.message),
        }
    }
    report(
        "mistralai-client 0.14.0",
        &text,
        "[incomplete utf-8 byte sequence from index 148][invalid utf-8 sequence of 1 bytes from index 0]",
        "é",
    )
}

async fn llm_text(backend: llm::builder::LLMBackend, server: &Server) -> String {
    use llm::builder::LLMBuilder;
    use llm::chat::ChatMessage;

    let builder = LLMBuilder::new()
        .backend(backend)
        .api_key("k")
        .model("m")
        .base_url(format!("{}/", server.url()));
    let llm = builder.build().expect("a client");
    let messages = [ChatMessage::user().content("a").build()];
    let texts = llm.chat_stream(&messages).await.expect("it answers");
    texts.filter_map(|text| async { text.ok() }).collect::<Vec<String>>().await.concat()
}

async fn llm_chunks() -> Verdict {
    let server = Server::start(cut(COMPLETION));
    let text = llm_text(llm::builder::LLMBackend::Mistral, &server).await;
    report("llm 1.3.8, Mistral", &text, "\u{FFFD}\u{FFFD}", "é")
}

/// A comment that is not UTF-8, and an event after it.
async fn llm_after_an_error() -> Verdict {
    let event = "data: {\"type\":\"response.output_text.delta\",\"delta\":\"é\"}\n\n";
    let server = Server::start(vec![b": \xFF\n\n".to_vec(), event.as_bytes().to_vec()]);
    let text = llm_text(llm::builder::LLMBackend::OpenAI, &server).await;
    report("llm 1.3.8, OpenAI", &text, "", "é")
}

/// The reader of streams of a proxy.
async fn proxy() -> Verdict {
    use crabllm_core::codec::openai::sse_stream;

    let stream = ["a", "b?c", "d"].map(|text| COMPLETION.replace('é', text)).concat();
    let bytes: Vec<u8> =
        stream.bytes().map(|byte| if byte == b'?' { 0xFF } else { byte }).collect();
    let chunks = sse_stream(Box::pin(futures::stream::iter([Ok(Bytes::from(bytes))])));
    let texts = chunks.map(|chunk| match chunk {
        Ok(chunk) => chunk.content().unwrap_or_default().to_owned(),
        Err(error) => format!("[{error}]"),
    });
    let texts: Vec<String> = texts.collect().await;
    report("crabllm-core 0.0.25", &texts.join(" "), "a d", "a b\u{FFFD}c d")
}

/// Docker sends output in frames, which end where a write ended.
fn docker_frames() -> Verdict {
    use bollard::container::LogOutput;

    let frames = [&b"\xC3"[..], b"\xA9"]
        .map(|message| LogOutput::StdOut { message: Bytes::from_static(message) });
    let text: String = frames.iter().map(LogOutput::to_string).collect();
    report("bollard 0.21.1", &text, "\u{FFFD}\u{FFFD}", "é")
}

fn pty() -> Verdict {
    let mut session = rexpect::spawn("printf é", Some(5_000)).expect("a process");
    let text = session.exp_eof().expect("its output");
    report("rexpect 0.7.1", &text, "Ã©", "é")
}

fn log_of_reads() -> Verdict {
    use expectrl::stream::log::LogStream;

    let mut log = Vec::new();
    let mut stream = LogStream::new((&b"\xC3"[..]).chain(&b"\xA9"[..]), &mut log);
    let mut buffer = [0; 8];
    while stream.read(&mut buffer).expect("a slice does not fail") > 0 {}
    let _written = log.flush();
    report(
        "expectrl 0.9.0",
        &String::from_utf8_lossy(&log).replace('\n', " "),
        "read:(bytes): [195] read:(bytes): [169] read: \"\" ",
        "read: \"é\" read: \"\" ",
    )
}

async fn process_stream() -> Verdict {
    use process_stream::{Process, ProcessExt};

    let mut process = Process::new("printf");
    process.arg("a\\nb\\377c\\nd\\n");
    let items = process
        .spawn_and_stream()
        .expect("a process")
        .map(|item| format!("{item:?}"))
        .collect::<Vec<_>>()
        .await;
    report(
        "process-stream 0.5.0",
        &items.join(" "),
        "[Output] a [Error] invalid utf-8 sequence of 1 bytes from index 1 [Output] d [Exit] 0",
        "[Output] a [Output] b\u{FFFD}c [Output] d [Exit] 0",
    )
}

/// It panics, so it runs in a task of its own.
async fn tokio_process_stream() -> Verdict {
    use tokio::process::Command;
    use tokio_process_stream::ProcessLineStream;

    let mut command = Command::new("printf");
    command.arg("a\\nb\\377c\\nd\\n");
    let items = ProcessLineStream::try_from(command).expect("a process");
    let lines = items.map(|item| item.stdout().unwrap_or_default().to_owned());
    let lines = tokio::spawn(lines.collect::<Vec<String>>()).await;
    let lines = lines.map_or_else(|_| "[a panic]".to_owned(), |lines| lines.join(" "));
    report("tokio-process-stream 0.4.1", lines.trim_end(), "[a panic]", "a b\u{FFFD}c d")
}

async fn reqwest_sse() -> Verdict {
    use reqwest_sse::EventSource;

    let server = Server::start(vec![b"data: a\n\ndata: b\xFFc\n\ndata: d\n\n".to_vec()]);
    let response = reqwest::get(server.url()).await.expect("it answers");
    let mut events = response.events().await.expect("a stream of events");
    let mut texts = Vec::new();
    while let Some(event) = events.next().await {
        texts.push(event.map_or_else(|error| format!("[{error}]"), |event| event.data));
    }
    report(
        "reqwest-sse 0.2.0",
        &texts.join(" "),
        "a [failed to process event due to I/O error: invalid utf-8 sequence of 1 bytes from index 7]",
        "a b\u{FFFD}c d",
    )
}

fn interactive_process() -> Verdict {
    use std::process::Command;
    use std::sync::mpsc::channel;

    let mut command = Command::new("printf");
    command.arg("a\\nb\\377c\\nd\\n");
    let (sender, receiver) = channel();
    let process = interactive_process::InteractiveProcess::new(&mut command, move |line| {
        let _sent = sender.send(line.unwrap_or_else(|error| format!("[{error}]")));
    });
    let lines: Vec<String> = receiver.iter().collect();
    drop(process);
    report(
        "interactive_process 0.1.3",
        &lines.join(" "),
        "a [stream did not contain valid UTF-8] d",
        "a b\u{FFFD}c d",
    )
}

/// It panics, so it runs in a task of its own.
async fn orch() -> Verdict {
    use orch::lm::{LanguageModel, LanguageModelBuilder, OllamaBuilder, TextCompleteStreamOptions};

    let line = r#"{"model":"m","created_at":"2020-01-01T00:00:00Z","response":"é","done":false}"#;
    let server = Server::start(cut(line));
    let model = OllamaBuilder::new().with_base_url(server.url()).try_build().expect("a client");
    let options = TextCompleteStreamOptions { context: None };
    let response = model.text_complete_stream("a", "a", options).await.expect("it answers");
    let texts = response.stream.map(|text| text.unwrap_or_else(|error| format!("[{error}]")));
    let texts = tokio::spawn(texts.collect::<Vec<String>>()).await;
    let text = texts.map_or_else(|_| "[a panic]".to_owned(), |texts| texts.concat());
    report("orch 0.0.16", &text, "[a panic]", "é")
}

async fn deepseek() -> Verdict {
    use deepseek_api::json_stream::JsonStream;

    let server =
        Server::start(vec![b"data: \"a\"\n\ndata: \"b\xFFc\"\n\ndata: \"d\"\n\n".to_vec()]);
    let response = reqwest_0_12::get(server.url()).await.expect("it answers");
    let items: Vec<_> = JsonStream::<String>::new(response).collect().await;
    let texts: Vec<_> =
        items.into_iter().map(|item| item.unwrap_or_else(|error| format!("[{error}]"))).collect();
    report(
        "deepseek-api 0.1.1",
        &texts.join(" "),
        "a [stream did not contain valid UTF-8] d",
        "a b\u{FFFD}c d",
    )
}

fn sse_client() -> Verdict {
    let server = Server::start(vec![b"data: a\n\ndata: b\xFFc\n\ndata: d\n\n".to_vec()]);
    let source = sse_client::EventSource::new(&server.url()).expect("a URL");
    let events = source.receiver();
    let mut texts = Vec::new();
    while let Ok(event) = events.recv_timeout(Duration::from_secs(2)) {
        if event.type_ == "error" {
            texts.push(format!("[{}]", event.data));
            break;
        }
        texts.push(event.data);
    }
    source.close();
    // Its thread still sends errors, and panics if it cannot.
    std::mem::forget(events);
    report(
        "sse-client 1.1.1",
        &texts.join(" "),
        "a [stream did not contain valid UTF-8]",
        "a b\u{FFFD}c d",
    )
}

async fn log_file() -> Verdict {
    let path = std::env::temp_dir().join(format!("audit-{}.log", std::process::id()));
    std::fs::write(&path, b"a\nb\xFFc\nd\n").expect("a file");
    let mut lines = linemux::MuxedLines::new().expect("a watcher");
    lines.add_file_from_start(&path).await.expect("it exists");
    let mut texts = Vec::new();
    while let Ok(line) = timeout(Duration::from_secs(2), lines.next_line()).await {
        match line {
            Ok(Some(line)) => texts.push(line.line().to_owned()),
            Ok(None) => break,
            Err(error) => texts.push(format!("[{error}]")),
        }
    }
    std::fs::remove_file(&path).expect("it exists");
    report(
        "linemux 0.3.0",
        &texts.join(" "),
        "a [invalid utf-8 sequence of 1 bytes from index 1]",
        "a b\u{FFFD}c d",
    )
}

/// The server writes a line that is not UTF-8, and then its answer.
async fn mcp() -> Verdict {
    use mcp_client::{
        ClientCapabilities, ClientInfo, McpClient, McpClientTrait, McpService, StdioTransport,
        Transport,
    };

    // Both lines in one write: the client closes the pipe after the first.
    const SERVER: &str = r#"read line
        printf 'b\377c\n{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"1.0.0","capabilities":{},"serverInfo":{"name":"é","version":"1"}}}\n'
        sleep 4"#;
    let arguments = vec!["-c".to_owned(), SERVER.to_owned()];
    let transport = StdioTransport::new("sh", arguments, HashMap::new());
    let handle = transport.start().await.expect("a process");
    let mut client = McpClient::new(McpService::with_timeout(handle, Duration::from_secs(2)));
    let info = ClientInfo { name: "a".into(), version: "1".into() };
    let answer = client.initialize(info, ClientCapabilities::default()).await;
    let name = answer.map_or_else(|error| format!("[{error}]"), |answer| answer.server_info.name);
    report(
        "mcp-client 0.1.0",
        &name,
        "[Call to '' failed for 'initialize'. Error from mcp-server: request timed out]",
        "é",
    )
}

/// A character that is several tokens.
fn tokens() -> Verdict {
    let tokenizer = tiktoken_rs::cl100k_base().expect("it is in the crate");
    let texts = tokenizer.split_by_token("😀", false).expect("a text");
    report("tiktoken-rs 0.12.1", &texts.concat(), "\u{FFFD}\u{FFFD}", "😀")
}

/// The same cut, and the same line, here.
fn ours() {
    use utf8_codec::{ErrorMode, Utf8Decoder};

    let (mut decoder, mut text) = (Utf8Decoder::new(), String::new());
    for chunk in [&b"\xC3"[..], b"\xA9 b\xFFc"] {
        text += &decoder.push_lossy(chunk);
    }
    let finished = decoder.finish_to_string(ErrorMode::Replacement, &mut text);
    assert_eq!(finished, Ok(()));
    println!("utf8-codec: {text:?}");
    assert_eq!(text, "é b\u{FFFD}c");
}

/// A server that answers one request with chunks.
struct Server {
    port: u16,
}

impl Server {
    /// Answers the first request with `chunks`, so far apart that a client reads them one by one.
    fn start(chunks: Vec<Vec<u8>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("it is bound").port();
        thread::spawn(move || {
            let (stream, _) = listener.accept()?;
            answer(stream, &chunks)
        });
        Self { port }
    }

    fn port(&self) -> u16 {
        self.port
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}

fn answer(mut stream: TcpStream, chunks: &[Vec<u8>]) -> io::Result<()> {
    // The requests are short: head and body come in one piece or two.
    let mut request = [0; 16 << 10];
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(Duration::from_millis(200)))?;
    while matches!(stream.read(&mut request), Ok(len) if len > 0) {}
    stream.write_all(
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n",
    )?;
    for chunk in chunks {
        write!(stream, "{:x}\r\n", chunk.len())?;
        stream.write_all(chunk)?;
        stream.write_all(b"\r\n")?;
        thread::sleep(Duration::from_millis(200));
    }
    stream.write_all(b"0\r\n\r\n")
}
