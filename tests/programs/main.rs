//! The examples, run as processes.

mod check;
#[cfg(feature = "std")]
#[path = "../support/program.rs"]
mod program;
mod transcode;

/// `examples/grep.rs`: the matches that it prints, and its exit status.
#[cfg(feature = "std")]
mod grep {
    use crate::program::Program;

    const GREP: Program = Program("grep");

    const LOG: &[u8] =
        b"one caf\xC3\xA9\ntwo tea\nthree caf\xE9 caf\xC3\nfour \xFF\nfive caf\xC3\xA9";

    #[test]
    fn the_sample_is_found() {
        let outcome = GREP.run([] as [&str; 0], b"");
        assert_eq!(outcome.status, 0, "{}", outcome.stderr);
        assert_eq!(outcome.text().lines().count(), 5);
    }

    #[test]
    fn matches_have_numbers_and_offsets_and_damage_is_repaired() {
        let file = GREP.file("damaged.log", LOG);
        let outcome = GREP.run(["caf", &*file], b"");
        let expected = ["1:0:one café", r"3:18!three caf\xe9 caf\xc3", "5:41:five café"];
        let expected = expected.map(|line| format!("{file}:{line}\n")).concat();
        assert_eq!((outcome.text(), outcome.status), (&*expected, 0));

        let outcome = GREP.run(["café", "--errors", "windows1252"], LOG);
        let expected = "-:1:0:one café\n-:3:18!three café cafÃ\n-:5:41:five café\n";
        assert_eq!((outcome.text(), outcome.status), (expected, 0));
    }

    #[test]
    fn the_exit_status_distinguishes_found_none_and_failed() {
        let outcome = GREP.run(["no such text"], LOG);
        assert_eq!((outcome.text(), outcome.status), ("", 1));

        let file = GREP.file("fine.log", LOG);
        let outcome = GREP.run(["tea", "no such file", &*file], b"");
        assert_eq!((outcome.text(), outcome.status), (&*format!("{file}:2:10:two tea\n"), 2));
        assert!(outcome.stderr.starts_with("grep: no such file: "), "{}", outcome.stderr);
    }

    #[test]
    fn lines_that_are_too_long_are_skipped() {
        let log = [&vec![b'x'; 100_000][..], b"\nshort x\n"].concat();
        let outcome = GREP.run(["x", "--max-length", "50"], &log);
        assert_eq!((outcome.text(), outcome.status), ("-:2:100001:short x\n", 2));
        assert_eq!(
            outcome.stderr,
            "grep: -: line 1 at byte 0 of the stream is longer than 50 bytes\n"
        );
    }

    #[test]
    fn control_characters_are_not_printed() {
        let outcome = GREP.run(["red"], b"\x1B[31mred\n");
        assert_eq!(outcome.text(), "-:1:0:\\u{1b}[31mred\n");
    }
}

/// `examples/lexer.rs`: the tokens that it prints, and its exit status.
#[cfg(feature = "stream")]
mod lexer {
    use crate::program::Program;

    #[test]
    fn tokens_of_a_hostilely_split_program_have_their_positions() {
        let output = Program("lexer").command().output().unwrap();
        let printed = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{printed}");

        let rows: Vec<Vec<&str>> =
            printed.lines().map(|row| row.split_whitespace().collect()).collect();
        for row in [
            ["0", "1", "1", "Word", "größe"].as_slice(),
            &["21", "1", "19", "Comment", "#", "ﬂächig"],
            &["55", "3", "6", "Literal", "\"こんにちは、"],
            &["74", "3", "13", "IllFormed", "invalid", "byte", "(ff)"],
            &["75", "3", "14", "Word", "世界"],
            &["126", "4", "22", "Symbol", ")"],
        ] {
            assert!(rows.iter().any(|other| other == row), "{row:?} is not in\n{printed}");
        }
        assert_eq!(rows.len(), 1 + 26 + 2, "a heading, the tokens, a verdict\n{printed}");
    }
}

/// `examples/run.rs`: the lines of a real child.
#[cfg(feature = "stream")]
mod run {
    use crate::program::Program;

    const RUN: Program = Program("run");

    #[test]
    fn both_pipes_of_a_child_are_drained_to_the_last_byte() {
        let outcome = RUN.run([] as [&str; 0], b"");
        assert_eq!((outcome.text(), outcome.status), ("ok: 20003 lines of two pipes\n", 0));
    }

    #[test]
    fn a_child_that_cannot_be_run_is_reported() {
        let outcome = RUN.run(["no such program"], b"");
        assert_eq!((outcome.text(), outcome.status), ("", 1));
        assert!(outcome.stderr.starts_with("run: "), "{}", outcome.stderr);
    }

    #[cfg(unix)]
    #[test]
    fn damaged_lines_are_repaired_and_the_exit_code_is_that_of_the_child() {
        // A grandchild still writes after the child has exited.
        let script = r"(sleep 0.2; printf 'last \033[2J') & printf 'caf\303'; sleep 0.1; printf '\251\n'; exit 7";
        let outcome = RUN.run(["sh", "-c", script], b"");
        assert_eq!((outcome.text(), outcome.status), ("out: café\nout: last \\u{1b}[2J\n", 7));
        let outcome = RUN.run(["sh", "-c", r"printf '\351t\351' >&2"], b"");
        assert_eq!((outcome.text(), outcome.status), ("err: \\xe9t\\xe9\n", 0));
    }
}

mod chat {
    //! `examples/chat.rs` as a process: its scripted chat, and misbehaving clients.
    #![cfg(all(feature = "codec", feature = "stream"))]

    use crate::program;

    use std::io::{BufRead, BufReader, Read, Write};
    use std::net::TcpStream;
    use std::process::{Child, Stdio};
    use std::time::Duration;

    use program::Program;

    const PATIENCE: Duration = Duration::from_secs(30);

    const CHAT: Program = Program("chat");

    /// A server process, killed at the end of the test.
    struct Server {
        child: Child,
        address: String,
    }

    impl Server {
        fn start(arguments: &[&str]) -> Self {
            let mut child = CHAT
                .command()
                .args(["--listen", "127.0.0.1:0"])
                .args(arguments)
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
            let address = CHAT.address(child.stdout.take().unwrap());
            Self { child, address }
        }

        fn connect(&self, name: &str) -> Client {
            let socket = TcpStream::connect(&self.address).unwrap();
            socket.set_read_timeout(Some(PATIENCE)).unwrap();
            socket.set_write_timeout(Some(PATIENCE)).unwrap();
            let mut client = Client(BufReader::new(socket));
            client.say(format!("{name}\n").as_bytes());
            client
        }
    }

    impl Drop for Server {
        fn drop(&mut self) {
            self.child.kill().unwrap();
            self.child.wait().unwrap();
        }
    }

    struct Client(BufReader<TcpStream>);

    impl Client {
        fn say(&mut self, bytes: &[u8]) {
            self.0.get_mut().write_all(bytes).unwrap();
        }

        fn hears(&mut self) -> String {
            let mut line = String::new();
            self.0.read_line(&mut line).unwrap();
            line
        }
    }

    #[test]
    fn the_scripted_chat_succeeds() {
        let output = CHAT.command().output().unwrap();
        let (said, complained) =
            (String::from_utf8(output.stdout), String::from_utf8(output.stderr));
        assert!(output.status.success(), "{said:?} {complained:?}");
        assert!(said.unwrap().ends_with("Each client has received the expected lines.\n"));
    }

    /// The server closes the socket with unread bytes unless it drains it.
    #[test]
    fn a_client_that_sends_everything_first_is_told_that_the_room_is_full() {
        let server = Server::start(&["--max-clients", "1"]);
        let mut first = server.connect("first");
        assert_eq!(first.hears(), "* welcome, first: 1 here\n");
        let lines = b"x\n".repeat(250_000);
        for _ in 0..20 {
            let mut second = server.connect("second");
            second.say(&lines);
            assert_eq!(second.hears(), "* the room is full\n");
        }
    }

    #[test]
    fn an_address_that_cannot_be_bound_is_named() {
        let outcome = CHAT.run(["--listen", "nowhere"], b"");
        assert_eq!((outcome.status, outcome.text()), (1, ""));
        assert!(outcome.stderr.starts_with("chat: nowhere: "), "{}", outcome.stderr);
    }

    #[test]
    fn the_room_size_is_limited_and_names_are_truncated_at_characters() {
        let server = Server::start(&["--max-clients", "1"]);
        let mut first = server.connect(&"é€".repeat(10));
        assert_eq!(first.hears(), format!("* welcome, {}é: 1 here\n", "é€".repeat(4)));
        let mut second = server.connect("second");
        assert_eq!(second.hears(), "* the room is full\n");
        assert_eq!(second.hears(), "");
    }

    #[test]
    fn an_endless_line_is_dropped_and_its_sender_stays() {
        let server = Server::start(&["--max-line", "64"]);
        let mut flood = server.connect("flood");
        flood.hears();
        let mut other = server.connect("other");
        other.hears();
        flood.hears();
        flood.say(&vec![b'x'; 10_000_000]);
        flood.say("\nand now: é\n".as_bytes());
        assert_eq!(flood.hears(), "* line 2 is longer than 64 bytes: dropped\n");
        assert_eq!(other.hears(), "flood: and now: é\n");
    }

    #[test]
    fn a_client_that_does_not_read_is_disconnected() {
        let server = Server::start(&["--max-line", "100000", "--patience", "1"]);
        let mut deaf = server.connect("deaf");
        assert_eq!(deaf.hears(), "* welcome, deaf: 1 here\n");
        let mut other = server.connect("other");
        let mut talker = server.connect("talker");
        assert_eq!(other.hears(), "* welcome, other: 2 here\n");
        assert_eq!(other.hears(), "* talker has joined\n");
        assert_eq!(talker.hears(), "* welcome, talker: 3 here\n");
        let line = format!("{}\n", "é".repeat(40_000));
        // Far more than 64 messages and the socket buffers can hold.
        let mut gone = false;
        for _ in 0..600 {
            talker.say(line.as_bytes());
            let mut heard = other.hears();
            if heard == "* deaf has left\n" {
                gone = true;
                heard = other.hears();
            }
            assert_eq!(heard, format!("talker: {line}"));
        }
        assert!(gone || other.hears() == "* deaf has left\n");
        let mut heard = Vec::new();
        // The connection is closed or reset, so the read returns.
        let _ended = deaf.0.read_to_end(&mut heard);
        assert!(heard.len() < 600 * line.len());
    }
}

mod habits {
    //! What all examples have in common: help, invalid arguments, and an output that cannot be written.
    #![cfg(all(feature = "codec", feature = "stream"))]

    #[cfg(target_os = "linux")]
    use std::fs::File;
    use std::io::{BufRead, BufReader};
    #[cfg(unix)]
    use std::os::unix::ffi::OsStrExt;

    use crate::program::{Program, finish};

    const PROGRAMS: [Program; 7] = [
        Program("chat"),
        Program("check"),
        Program("grep"),
        Program("json_rpc"),
        Program("lexer"),
        Program("run"),
        Program("transcode"),
    ];

    /// Those that read files, each with its other arguments.
    const READERS: [(Program, &[&str]); 3] =
        [(Program("check"), &[]), (Program("grep"), &["x"]), (Program("transcode"), &[])];

    #[test]
    fn help_names_the_program_and_its_arguments() {
        for program in &PROGRAMS {
            for argument in ["--help", "-h"] {
                let outcome = program.run([argument], b"");
                assert_eq!((outcome.status, &*outcome.stderr), (0, ""), "{}", program.0);
                let usage = format!("Usage: {}", program.0);
                assert!(outcome.text().contains(&usage), "{}", outcome.text());
                assert!(outcome.text().contains("-h, --help"), "{}", outcome.text());
            }
        }
    }

    #[test]
    fn an_unknown_argument_is_rejected_before_anything_is_done() {
        for program in &PROGRAMS {
            let outcome = program.run(["--no-such-option"], b"");
            assert_eq!((outcome.status, outcome.text()), (2, ""), "{}", program.0);
            assert!(outcome.stderr.contains("'--no-such-option'"), "{}", outcome.stderr);
        }
    }

    #[test]
    fn a_reader_that_closes_the_pipe_after_one_line_ends_the_program_quietly() {
        for program in &PROGRAMS {
            let mut child = program.start([] as [&str; 0]);
            let mut line = String::new();
            BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
            let outcome = finish(child);
            assert_eq!((outcome.status, &*outcome.stderr), (0, ""), "{} printed {line}", program.0);
        }
    }

    #[test]
    fn a_pipe_that_is_closed_from_the_start_ends_the_program_quietly() {
        let file = Program("habits").file("text.txt", &b"text: x\n".repeat(100_000));
        let runs = PROGRAMS.map(|program| (program, vec![]));
        let readers = READERS.map(|(program, before)| (program, [before, &[&*file]].concat()));
        for (program, arguments) in runs.into_iter().chain(readers) {
            let mut child = program.start(&arguments);
            drop(child.stdout.take());
            let outcome = finish(child);
            assert_eq!((outcome.status, &*outcome.stderr), (0, ""), "{} {arguments:?}", program.0);
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn an_output_that_cannot_be_written_is_one_message_and_a_failure() {
        for program in &PROGRAMS {
            let full = File::options().write(true).open("/dev/full").unwrap();
            let mut command = program.command();
            let outcome = command.stdout(full).output().unwrap();
            let message = String::from_utf8(outcome.stderr).unwrap();
            let name = program.0;
            assert!(matches!(outcome.status.code(), Some(1 | 2)), "{name}: {:?}", outcome.status);
            assert!(message.starts_with(&format!("{name}: ")), "{name}: {message}");
            assert!(message.contains("No space left"), "{name}: {message}");
            assert_eq!(message.lines().count(), 1, "{name}: {message}");
        }
    }

    #[test]
    #[cfg(unix)]
    fn a_missing_file_and_a_directory_are_one_message_with_their_name() {
        for (program, before) in &READERS {
            for (file, reason) in [("no such file", "No such file"), ("src", "Is a directory")] {
                let outcome = program.run([before, &[file][..]].concat(), b"");
                assert_eq!(outcome.status, 2, "{}: {}", program.0, outcome.stderr);
                let start = format!("{}: {file}: ", program.0);
                assert!(outcome.stderr.starts_with(&start), "{}", outcome.stderr);
                assert!(outcome.stderr.contains(reason), "{}", outcome.stderr);
                assert_eq!(outcome.stderr.lines().count(), 1, "{}", outcome.stderr);
            }
        }
    }

    #[test]
    #[cfg(unix)]
    fn a_file_whose_name_is_not_utf8_is_read() {
        use std::ffi::OsStr;

        let path = Program("habits").path("caf").with_file_name(OsStr::from_bytes(b"caf\xE9.txt"));
        std::fs::write(&path, "text: x\n").unwrap();
        for (program, before) in &READERS {
            let arguments = before.iter().map(OsStr::new).chain([path.as_os_str()]);
            let outcome = program.run(arguments, b"");
            assert_eq!((outcome.status, &*outcome.stderr), (0, ""), "{}", program.0);
            assert!(!outcome.stdout.is_empty(), "{}", program.0);
        }
    }

    #[test]
    fn bytes_that_are_not_utf8_are_reported_or_repaired_and_never_fatal_to_the_program() {
        let file = Program("habits").file("damaged.txt", b"text: x\xFF\nsecond x\n");
        for ((program, before), status) in READERS.iter().zip([1, 0, 1]) {
            let outcome = program.run([before, &[&*file][..]].concat(), b"");
            assert_eq!(outcome.status, status, "{}: {}", program.0, outcome.stderr);
            assert!(
                outcome.text().contains("text: x") || program.0 == "check",
                "{}",
                outcome.text()
            );
        }
    }
}

mod json_rpc {
    //! `examples/json_rpc.rs` as a process: a session over standard input, with bad lines.
    #![cfg(feature = "codec")]

    use std::io::{BufRead, BufReader, Write};

    use serde_json::{Value, json};

    use crate::program::{self, Program};

    const JSON_RPC: Program = Program("json_rpc");

    /// The answers to these lines, as values.
    fn answers(arguments: &[&str], input: &[u8]) -> Vec<Value> {
        let arguments = [&["--stdio"], arguments].concat();
        let outcome = JSON_RPC.run(arguments, input);
        assert_eq!((outcome.status, &*outcome.stderr), (0, ""));
        outcome.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn request(id: u32, text: &[u8]) -> Vec<u8> {
        let start = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"count","params":[""#);
        [start.as_bytes(), text, b"\"]}\n"].concat()
    }

    fn result(id: u32, count: u32) -> Value {
        json!({ "jsonrpc": "2.0", "id": id, "result": count })
    }

    /// The code and the details of an error without an identifier.
    fn error(answer: &Value) -> (i64, &str) {
        assert_eq!((&answer["jsonrpc"], &answer["id"]), (&json!("2.0"), &Value::Null));
        (answer["error"]["code"].as_i64().unwrap(), answer["error"]["data"].as_str().unwrap())
    }

    #[test]
    fn the_session_with_itself_succeeds() {
        let outcome = JSON_RPC.run([] as [&str; 0], b"");
        assert_eq!(outcome.status, 0, "{}", outcome.stderr);
        assert!(outcome.text().ends_with("ok: every line is answered\n"), "{}", outcome.text());
    }

    #[test]
    fn a_bad_line_is_answered_and_the_session_continues() {
        let bad: [(&[u8], &str); 4] = [
            (b"\xFF\n", "line 2 is not valid UTF-8: invalid byte (ff) at byte"),
            (b"caf\xC3\n", "line 2 is not valid UTF-8: truncated character (c3, followed by 0a)"),
            (b"{\"id\":\n", "line 2: EOF while parsing a value"),
            (b"caf\xC3\xA9\r\n", "line 2: expected value"),
        ];
        for (line, message) in bad {
            let input = [&request(1, "žluť".as_bytes()), line, &request(3, b"kun")].concat();
            let found = answers(&[], &input);
            assert_eq!((&found[0], &found[2], found.len()), (&result(1, 4), &result(3, 3), 3));
            let (code, data) = error(&found[1]);
            assert_eq!(code, -32700);
            assert!(data.starts_with(message), "{data}");
        }
    }

    #[test]
    fn each_line_is_answered_before_the_next_one_is_sent() {
        let mut server = JSON_RPC.start(["--stdio"]);
        let mut input = server.stdin.take().unwrap();
        let mut output = BufReader::new(server.stdout.take().unwrap()).lines();
        for id in 0..50 {
            let text: &[u8] = if id % 2 == 0 { b"\xE2\x82\xAC" } else { b"\xE2\x82" };
            input.write_all(&request(id, text)).unwrap();
            let answer: Value = serde_json::from_str(&output.next().unwrap().unwrap()).unwrap();
            match id % 2 {
                0 => assert_eq!(answer, result(id, 1)),
                _ => assert_eq!(error(&answer).0, -32700),
            }
        }
        drop(input);
        assert!(output.next().is_none());
        assert_eq!(program::finish(server).status, 0);
    }

    #[test]
    fn a_line_that_is_too_long_is_answered_and_not_stored() {
        let input = [&request(1, &[b'x'; 10_000_000]), &*request(2, b"xy")].concat();
        let found = answers(&["--max-length", "100"], &input);
        assert_eq!(
            error(&found[0]),
            (-32700, "line 1 at byte 0 of the stream is longer than 100 bytes")
        );
        assert_eq!((&found[1], found.len()), (&result(2, 2), 2));
    }

    #[test]
    fn deep_nesting_and_large_batches_are_answered() {
        let deep = [&[b'['; 100_000][..], b"\n", &request(2, b"a")].concat();
        let found = answers(&[], &deep);
        assert_eq!((error(&found[0]).0, &found[1]), (-32700, &result(2, 1)));

        let batch = |count| format!("[{}]\n", vec!["1"; count].join(","));
        let found = answers(&["--max-batch", "3"], [batch(3), batch(4)].concat().as_bytes());
        assert_eq!(found[0].as_array().unwrap().len(), 3);
        assert_eq!(error(&found[1]), (-32600, "a batch has 1 to 3 requests, not 4"));
    }

    #[test]
    fn the_rules_of_json_rpc_are_followed() {
        let cases = [
            (
                r#"{"jsonrpc":"2.0","method":"echo","id":"x","params":{"a":1}}"#,
                "x",
                Ok(json!({"a":1})),
            ),
            (r#"{"jsonrpc":"2.0","method":"echo","id":"x"}"#, "x", Ok(Value::Null)),
            (r#"{"jsonrpc":"2.0","method":"none","id":"x"}"#, "x", Err(-32601)),
            (r#"{"jsonrpc":"2.0","method":"count","id":"x","params":[1]}"#, "x", Err(-32602)),
            (r#"{"jsonrpc":"1.0","method":"echo","id":"x"}"#, "x", Err(-32600)),
            (r#"{"jsonrpc":"2.0","method":7,"id":"x"}"#, "x", Err(-32600)),
        ];
        for (line, id, expected) in cases {
            let found = &answers(&[], format!("\u{FEFF}{line}\n").as_bytes())[0];
            assert_eq!(found["id"], id, "{line}");
            match expected {
                Ok(result) => assert_eq!(found["result"], result, "{line}"),
                Err(code) => assert_eq!(found["error"]["code"], code, "{line}"),
            }
        }
        let silent = b"\n \r\n{\"jsonrpc\":\"2.0\",\"method\":\"none\"}\n[{\"jsonrpc\":\"2.0\",\"method\":\"echo\"}]";
        assert_eq!(answers(&[], silent), [] as [Value; 0]);
        assert_eq!(error(&answers(&[], b"5")[0]).0, -32600);
    }
}
