#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    if let Err(violation) = jsonmend_proxy::fuzz::request(data) {
        panic!("{violation}");
    }
});
