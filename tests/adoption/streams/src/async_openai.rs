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
        Ok(chunk) => chunk.choices.into_iter().filter_map(|choice| choice.delta.content).collect(),
        Err(error) => error.to_string(),
    });
    timeout(LIMIT, texts.collect()).await.expect("it ends")
}

fn delta(content: &str) -> String {
    let choice = format!(r#"{{"index":0,"delta":{{"content":"{content}"}},"finish_reason":null}}"#);
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
