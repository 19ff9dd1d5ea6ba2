//! The one state machine: scanner, carry, BOM, options, errors, and what is made of them.

pub(crate) mod bom;
pub mod boundary;
pub(crate) mod carry;
pub mod decoder;
pub(crate) mod encoder;
pub(crate) mod error;
pub(crate) mod mode;
pub(crate) mod options;
pub(crate) mod scanner;
pub mod split;
pub(crate) mod strictness;
pub(crate) mod tally;
pub(crate) mod validator;
