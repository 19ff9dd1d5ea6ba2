//! The kernel `avx2`; on a machine without it, nothing.
#![no_main]

use libfuzzer_sys::fuzz_target;
use utf8_codec_fuzz::operations::kernels;

fuzz_target!(|work: kernels::Work| {
    kernels::kernel("avx2", &work);
});
