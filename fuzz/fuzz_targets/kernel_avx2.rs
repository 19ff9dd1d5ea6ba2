//! The kernel `avx2`; a machine without it says so, and nothing is run.
#![no_main]

use libfuzzer_sys::fuzz_target;
use utf8_codec_fuzz::kernel_or_exit;
use utf8_codec_fuzz::operations::kernels;

fuzz_target!(init: kernel_or_exit("avx2"), |work: kernels::Work| {
    kernels::kernel(kernel_or_exit("avx2"), &work);
});
