#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    if let Err(violation) = wiremend_proxy::fuzz::request(data) {
        panic!("{violation}");
    }
});
