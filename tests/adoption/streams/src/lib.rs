//! Tests that have the same outcome with the published `eventsource-stream` and with ours.
#![cfg(test)]

use std::time::Duration;

/// The lengths of the chunks in which each test sends its streams: 1 cuts every character.
const CHUNKS: [usize; 5] = [1, 2, 3, 7, 1000];

/// More than any test takes.
const LIMIT: Duration = Duration::from_secs(20);

mod async_openai {
    use async_openai::Client;
    use async_openai::config::OpenAIConfig;
    use async_openai::types::chat::{
        ChatCompletionRequestUserMessage, CreateChatCompletionRequestArgs,
    };
    use futures::StreamExt;
    use tokio::time::timeout;

    use crate::server::{Answer, Server};
    use crate::{CHUNKS, LIMIT};

    /// The contents of the deltas of a chat, and its errors.
    async fn chat(server: &Server) -> Vec<String> {
        let config = OpenAIConfig::new().with_api_base(&server.url).with_api_key("none");
        let client = reqwest_0_13::Client::builder().no_proxy().build().expect("a client");
        let client = Client::build(client, config);
        let request = CreateChatCompletionRequestArgs::default()
            .model("none")
            .messages([ChatCompletionRequestUserMessage::from("a").into()])
            .build()
            .expect("a request");
        let chat = client.chat();
        let chunks = timeout(LIMIT, chat.create_stream(request)).await.expect("it answers");
        let texts = chunks.expect("an answer").map(|chunk| match chunk {
            Ok(chunk) => {
                chunk.choices.into_iter().filter_map(|choice| choice.delta.content).collect()
            }
            Err(error) => error.to_string(),
        });
        timeout(LIMIT, texts.collect()).await.expect("it ends")
    }

    fn delta(content: &str) -> String {
        let choice =
            format!(r#"{{"index":0,"delta":{{"content":"{content}"}},"finish_reason":null}}"#);
        let head = r#""id":"1","object":"chat.completion.chunk","created":1,"model":"none""#;
        format!("data: {{{head},\"choices\":[{choice}]}}\n\n")
    }

    #[tokio::test]
    async fn the_deltas_of_a_chat_are_whole_in_chunks_of_any_length() {
        for len in CHUNKS {
            let stream = [
                ": ping ü\n\n",
                &delta("Grü"),
                "event: keepalive\ndata: \n\n",
                &delta("ße, 世"),
                &delta("界 😀"),
                "data: [DONE]\n\n",
                &delta("after the end"),
            ];
            let server = Server::start(len, [Answer::Whole(stream.concat())]);
            assert_eq!(chat(&server).await, ["Grü", "ße, 世", "界 😀"], "in chunks of {len}");
            let request = server.requests.recv_timeout(LIMIT).expect("a request");
            assert!(request.starts_with("POST /chat/completions "), "{request}");
            assert!(request.contains("\"stream\":true"), "{request}");
        }
    }

    #[tokio::test]
    async fn a_broken_chat_is_an_error_after_its_deltas() {
        for len in CHUNKS {
            let server = Server::start(len, [Answer::Broken(delta("é") + "data: {")]);
            let error =
                "stream failed: EventStream error: Transport error: error decoding response body";
            assert_eq!(chat(&server).await, ["é", error], "in chunks of {len}");
        }
    }

    #[tokio::test]
    async fn an_event_that_is_not_a_delta_is_an_error_and_the_next_follows() {
        for len in CHUNKS {
            let stream = format!("data: \"né\"\n\n{}data: [DONE]\n\n", delta("é"));
            let server = Server::start(len, [Answer::Whole(stream)]);
            let seen = chat(&server).await;
            assert_eq!(seen.len(), 2, "{seen:?}");
            assert!(seen[0].contains("né"), "{seen:?}");
            assert_eq!(seen[1], "é", "in chunks of {len}");
        }
    }
}

mod reqwest_eventsource {
    use std::time::Duration;

    use futures::StreamExt;
    use reqwest::Client;
    use reqwest_eventsource::{Error, Event, EventSource};
    use tokio::time::timeout;

    use crate::server::{Answer, Server};
    use crate::{CHUNKS, LIMIT};

    fn connect(server: &Server) -> EventSource {
        let client = Client::builder().no_proxy().build().expect("a client");
        EventSource::new(client.get(&server.url)).expect("a request without a body")
    }

    /// The next `count` items: an event as its type, its data, its ID and its delay.
    async fn items(source: &mut EventSource, count: usize) -> Vec<String> {
        let items = source.take(count).map(|item| match item {
            Ok(Event::Open) => "open".to_owned(),
            Ok(Event::Message(event)) => {
                format!("{} {:?} {:?} {:?}", event.event, event.data, event.id, event.retry)
            }
            Err(Error::Transport(error)) => format!("transport: {error}"),
            Err(error) => error.to_string(),
        });
        timeout(LIMIT, items.collect()).await.expect("the server answers")
    }

    #[tokio::test]
    async fn events_have_their_fields_in_chunks_of_any_length() {
        let stream = ": a comment, ü\r\n\r\ndata: žluť 😀\r\nother: no\r\n\r\nevent: 追加\nid: 1\ndata: one\n\
        data:  二\n\nretry: 900\ndata\n\ndata:x\n:y\n\ndata: cut off";
        for len in CHUNKS {
            let mut source = connect(&Server::start(len, [Answer::Whole(stream.into())]));
            let seen = items(&mut source, 6).await;
            source.close();
            let expected = [
                "open",
                "message \"žluť 😀\" \"\" None",
                "追加 \"one\\n 二\" \"1\" None",
                "message \"\" \"1\" Some(900ms)",
                "message \"x\" \"1\" None",
                "Stream ended",
            ];
            assert_eq!(seen, expected, "in chunks of {len}");
        }
    }

    #[tokio::test]
    async fn it_reconnects_with_the_last_id_after_the_delay_of_the_stream() {
        for len in CHUNKS {
            let answers = [
                Answer::Whole("retry: 20\nid: 7, é\ndata: a\n\nid: 8\ndata: cut off".into()),
                Answer::Whole("id: 9\ndata: b\n\n".into()),
            ];
            let server = Server::start(len, answers);
            let mut source = connect(&server);
            let seen = items(&mut source, 5).await;
            let expected = [
                "open",
                "message \"a\" \"7, é\" Some(20ms)",
                "Stream ended",
                "open",
                "message \"b\" \"9\" None",
            ];
            assert_eq!(seen, expected, "in chunks of {len}");
            assert_eq!(source.last_event_id(), "9");

            let first = server.requests.recv_timeout(LIMIT).expect("a request");
            let second = server.requests.recv_timeout(LIMIT).expect("a second request");
            assert!(!first.contains("last-event-id"), "{first}");
            assert!(second.contains("last-event-id: 7, é\r\n"), "{second}");
        }
    }

    #[tokio::test]
    async fn the_events_before_a_broken_connection_are_returned() {
        for len in CHUNKS {
            let answers = [
                Answer::Broken("retry: 20\nid: 7\ndata: ä\n\ndata: half".into()),
                Answer::Whole("id: 8\ndata: b\n\n".into()),
            ];
            let server = Server::start(len, answers);
            let mut source = connect(&server);
            let seen = items(&mut source, 5).await;
            let broken = "transport: error decoding response body";
            let expected = [
                "open",
                "message \"ä\" \"7\" Some(20ms)",
                broken,
                "open",
                "message \"b\" \"8\" None",
            ];
            assert_eq!(seen, expected, "in chunks of {len}");
        }
    }

    #[tokio::test]
    async fn a_policy_without_retries_ends_the_stream() {
        let mut source = connect(&Server::start(1, [Answer::Whole("data: 終\n\n".into())]));
        source.set_retry_policy(Box::new(reqwest_eventsource::retry::Never));
        let seen = items(&mut source, 10).await;
        assert_eq!(seen, ["open", "message \"終\" \"\" None", "Stream ended"]);
        let after = timeout(Duration::from_secs(1), source.next()).await.expect("it has ended");
        assert!(after.is_none());
    }
}

mod server {
    //! A server that answers each connection with a stream of events.

    use std::io::{self, BufRead, BufReader, Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::sync::mpsc::{Receiver, channel};
    use std::thread;

    use crate::LIMIT;

    pub(crate) struct Server {
        pub(crate) url: String,
        /// The head and the body of each request.
        pub(crate) requests: Receiver<String>,
    }

    /// What one connection sends.
    pub(crate) enum Answer {
        Whole(String),
        /// The connection ends inside the body.
        Broken(String),
    }

    impl Server {
        /// Answers one connection after another, in chunks of `len` bytes.
        pub(crate) fn start<const N: usize>(len: usize, answers: [Answer; N]) -> Self {
            let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
            let address = listener.local_addr().expect("it is bound");
            let (sender, requests) = channel();
            thread::spawn(move || -> io::Result<()> {
                for answer in answers {
                    let (mut stream, _) = listener.accept()?;
                    stream.set_read_timeout(Some(LIMIT))?;
                    let _sent = sender.send(request(&stream)?);
                    send(&mut stream, answer, len)?;
                }
                Ok(())
            });
            Self { url: format!("http://{address}"), requests }
        }
    }

    fn request(stream: &TcpStream) -> io::Result<String> {
        let mut stream = BufReader::new(stream);
        let mut request = String::new();
        while !request.ends_with("\r\n\r\n") {
            if stream.read_line(&mut request)? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        let length = request.lines().find_map(|line| {
            let (name, value) = line.split_once(": ")?;
            name.eq_ignore_ascii_case("content-length").then_some(value)
        });
        let length = length.map_or(0, |length| length.parse().expect("it is a number"));
        stream.take(length).read_to_string(&mut request)?;
        Ok(request)
    }

    fn send(stream: &mut TcpStream, answer: Answer, len: usize) -> io::Result<()> {
        let (body, end) = match answer {
            Answer::Whole(body) => (body, "0\r\n\r\n"),
            Answer::Broken(body) => (body, ""),
        };
        let mut bytes =
            b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: text/event-stream\r\n\
        Transfer-Encoding: chunked\r\n\r\n"
                .to_vec();
        for chunk in body.as_bytes().chunks(len) {
            write!(bytes, "{:x}\r\n", chunk.len())?;
            bytes.extend_from_slice(chunk);
            bytes.extend_from_slice(b"\r\n");
        }
        bytes.extend_from_slice(end.as_bytes());
        stream.write_all(&bytes)
    }
}
