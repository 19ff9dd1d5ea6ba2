//! Tests of the statements in COMPARISON.md: one module per task, one test per statement.

#[cfg(test)]
mod bodies;
#[cfg(test)]
mod convert;
#[cfg(test)]
mod dialects;
#[cfg(test)]
mod lines;
#[cfg(test)]
mod lossy;
#[cfg(test)]
mod readers;
#[cfg(test)]
mod slices;
#[cfg(test)]
mod streams;
#[cfg(test)]
mod support;
#[cfg(test)]
mod websocket;
