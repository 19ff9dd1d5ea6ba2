//! A page that shows a stream being decoded in the browser.
//!
//! ```text
//! cargo run --release -p playground
//! ```
//!
//! The program builds the crate for wasm32 twice, with and without simd128 (`modules.rs`), and serves the page on
//! loopback until it is interrupted (`server.rs`).

mod modules;
#[path = "../../support/output.rs"]
mod output;
mod server;

use std::error::Error;
use std::net::Ipv4Addr;
use std::process::ExitCode;

use clap::Parser;
use tokio::net::TcpListener;

use crate::output::say;
use crate::server::{Asset, Limits};

/// Serves a page that shows a stream being decoded, on loopback.
#[derive(Parser)]
#[command(name = "playground")]
struct Arguments {
    /// The port on 127.0.0.1 (0: any free port).
    #[arg(long, value_name = "PORT", default_value_t = 7878)]
    port: u16,
}

#[tokio::main]
async fn main() -> ExitCode {
    match run(&Arguments::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("playground: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, arguments.port))
        .await
        .map_err(|error| format!("port {}: {error}; --port chooses another", arguments.port))?;
    let mut assets = vec![
        Asset::new("/", include_str!("../page/index.html")),
        Asset::new("/style.css", include_str!("../page/style.css")),
        Asset::new("/main.js", include_str!("../page/main.js")),
        Asset::new("/model.js", include_str!("../page/model.js")),
        Asset::new("/race.js", include_str!("../page/race.js")),
        Asset::new("/view.js", include_str!("../page/view.js")),
    ];
    for file in modules::build()? {
        assets.push(Asset::new(&format!("/wasm/{}", file.name), file.bytes));
    }
    say(format_args!("http://{}/", listener.local_addr()?))?;
    server::serve(listener, assets, Limits::default()).await;
    Ok(())
}
