#![no_main]

use wiremend_testkit::fuzz;

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::require(fuzz::mend(data)));
