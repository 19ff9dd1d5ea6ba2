//! HTTP bodies over the loopback device, with hyper on both sides, in one thread.

use std::cell::RefCell;
use std::convert::Infallible;
use std::net::Ipv4Addr;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use futures::stream;
use http_body::{Body, Frame};
use http_body_util::{BodyExt, Either, Full, StreamBody, combinators::BoxBody};
use hyper::body::Incoming;
use hyper::client::conn::http1::SendRequest;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use utf8_codec::Utf8Validator;
use utf8_codec::http::{BodyError, Utf8Body};

use crate::body::{FRAME, collect, frames, sum};
use crate::support::{Bench, Corpus, Name, Row, Work};

const LEN: usize = 256 << 10;

/// A server reads a client's body: as text, as bytes, or collected and then validated.
pub(crate) fn upload(bench: &mut Bench) {
    measure(bench, "upload", |row, peers| {
        row.ours(|| peers.upload("ours"));
        row.peer("std", || peers.upload("collect"));
        row.floor("(bare)", || peers.upload("bare"));
        row.floor("(validate)", || peers.upload("validate"));
    });
}

/// A server sends text that it validates while sending, or bytes.
pub(crate) fn download(bench: &mut Bench) {
    measure(bench, "download", |row, peers| {
        row.ours(|| peers.download("ours"));
        row.floor("(bare)", || peers.download("bare"));
        row.floor("(validate)", || peers.download("validate"));
    });
}

fn measure(bench: &mut Bench, what: &str, contenders: impl for<'a> Fn(&mut Row<'a>, &'a Peers)) {
    for corpus in [Corpus::Ascii, Corpus::Cyrillic, Corpus::Cjk] {
        let Some(name) = bench.name(what, corpus.name(), FRAME.to_string()) else { continue };
        let peers = Peers::connect(&name, frames(corpus, LEN, 1));
        let mut row = Row::new(name, Work::new(LEN, LEN / FRAME + 1, "frame"));
        row.expect(LEN);
        contenders(&mut row, &peers);
        bench.measure(row);
    }
}

/// A connected client and server, and the frames that one sends to the other.
struct Peers {
    runtime: Runtime,
    sender: RefCell<SendRequest<Either<Script, Full<Bytes>>>>,
    frames: Vec<Bytes>,
}

type Script = StreamBody<stream::Iter<std::vec::IntoIter<Result<Frame<Bytes>, Infallible>>>>;

fn script(frames: &[Bytes]) -> Script {
    let frames: Vec<_> = frames.iter().map(|data| Ok(Frame::data(data.clone()))).collect();
    StreamBody::new(stream::iter(frames))
}

impl Peers {
    fn connect(name: &Name, frames: Vec<Bytes>) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build();
        let runtime = runtime.unwrap_or_else(|error| panic!("{name}: {error}"));
        let connected = runtime.block_on(async {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
            let client = TcpStream::connect(listener.local_addr()?).await?;
            let (server, _) = listener.accept().await?;
            client.set_nodelay(true)?;
            server.set_nodelay(true)?;
            std::io::Result::Ok((client, server))
        });
        let (client, server) = connected.unwrap_or_else(|error| panic!("{name}: {error}"));
        let to_send = frames.clone();
        let service = service_fn(move |request| answer(request, script(&to_send)));
        let server = hyper::server::conn::http1::Builder::new()
            .serve_connection(TokioIo::new(server), service);
        let (sender, _) = runtime.block_on(async {
            tokio::spawn(server);
            let (sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(client))
                .await
                .expect("connects");
            (sender, tokio::spawn(connection))
        });
        Self { runtime, sender: RefCell::new(sender), frames }
    }

    fn ask(&self, how: &str, body: Either<Script, Full<Bytes>>) -> Response<Incoming> {
        let request = Request::post(format!("/{how}")).header("host", "x").body(body);
        let mut sender = self.sender.borrow_mut();
        self.runtime.block_on(async {
            sender.ready().await.expect("the connection lasts");
            sender.send_request(request.expect("a request")).await.expect("an answer")
        })
    }

    fn upload(&self, how: &str) -> u64 {
        let response = self.ask(how, Either::Left(script(&self.frames)));
        let body = self.runtime.block_on(response.into_body().collect()).expect("a number");
        let number = String::from_utf8_lossy(&body.to_bytes()).parse();
        number.expect("a number")
    }

    fn download(&self, how: &str) -> u64 {
        let response = self.ask(how, Either::Right(Full::default()));
        self.runtime.block_on(sum(response.into_body())) as u64
    }
}

/// Reads the request in the way that its path names and answers its length; sends the script if it is empty.
async fn answer(
    request: Request<Incoming>,
    script: Script,
) -> Result<Response<BoxBody<Bytes, BodyError>>, Infallible> {
    let how = request.uri().path().to_owned();
    let is_download = request.body().size_hint().exact() == Some(0);
    let body = match (&*how, is_download) {
        ("/bare", true) => script.map_err(|never| match never {}).boxed(),
        ("/validate", true) => Validated::new(script).map_err(|never| match never {}).boxed(),
        (_, true) => Utf8Body::new(script).boxed(),
        (how, false) => {
            let body = request.into_body();
            let len = match how {
                "/bare" => sum(body).await,
                "/collect" => collect(body).await,
                "/validate" => sum(Validated::new(body)).await,
                _ => sum(Utf8Body::new(body)).await,
            };
            let answer = Full::<Bytes>::from(len.to_string());
            answer.map_err(|never| match never {}).boxed()
        }
    };
    Ok(Response::new(body))
}

/// A body that validates frames and passes them on unchanged: the least cost of validation.
struct Validated<B> {
    inner: B,
    validator: Utf8Validator,
}

impl<B> Validated<B> {
    fn new(inner: B) -> Self {
        Self { inner, validator: Utf8Validator::new() }
    }
}

impl<B: Body<Data = Bytes> + Unpin> Body for Validated<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let frame = ready!(Pin::new(&mut self.inner).poll_frame(cx));
        if let Some(Ok(frame)) = &frame {
            let data = frame.data_ref().map_or(&[][..], |data| data);
            self.validator.push(data).expect("the text is UTF-8");
        }
        Poll::Ready(frame)
    }
}
