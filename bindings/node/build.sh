#!/usr/bin/env bash
# Builds the package: the module, for `wasm32-unknown-unknown`, and the JavaScript around it, to `dist`.
#
# The standard library for the target comes from rustup. Where that has no network but Debian's archive can be reached, a
# compiler with its source, and a linker, are unpacked below `target` (`apt-get download`: nothing is installed, and no
# root is needed), and the library is built once, which takes a minute.
set -euo pipefail
cd "$(dirname "$0")"
target=$(realpath -m "${CARGO_TARGET_DIR:-../../target}")/node
triple=wasm32-unknown-unknown
build=(cargo build --locked --profile wasm --target "$triple")

has_library() {
  [ -d "$(rustc --print sysroot)/lib/rustlib/$triple/lib" ]
}

# A compiler that can build its own library: 110 MB to download, 850 MB unpacked.
debian() {
  local place=$target/debian
  if [ ! -e "$place/ready" ]; then
    rm -rf "$place"
    mkdir -p "$place/packages"
    local compiler library llvm linker
    compiler=rustc-web
    library=$(apt-cache depends rustc-web | sed -n 's/.*Depends: \(libstd-rust-web-dev\)$/\1/p')
    library="$library $(apt-cache depends libstd-rust-web-dev | sed -n 's/.*Depends: \(libstd-rust-web-[0-9.]*\)$/\1/p')"
    llvm=$(for name in $library; do apt-cache depends "$name"; done | sed -n 's/.*Depends: \(libllvm[0-9]*\)$/\1/p' | head -n 1)
    linker=lld-${llvm#libllvm}
    # shellcheck disable=SC2086
    (cd "$place/packages" && apt-get download -q $compiler rust-web-src $library "$llvm" "$linker" 2>/dev/null)
    for package in "$place"/packages/*.deb; do
      dpkg -x "$package" "$place"
    done
    rm -rf "$place/packages"
    touch "$place/ready"
  fi
  local lib=$place/usr/lib/x86_64-linux-gnu
  export LD_LIBRARY_PATH=$lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} RUSTC=$place/usr/bin/rustc
  # `-Z build-std`: its compiler is a stable one.
  export RUSTC_BOOTSTRAP=1
  CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER=$(echo "$place"/usr/lib/llvm-*/bin/wasm-ld)
  export CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER
  build+=(-Z build-std=std,panic_abort)
}

if ! has_library && ! timeout 60 rustup target add "$triple" 2>/dev/null; then
  echo "rustup cannot add the target: its library is built with Debian's compiler"
  debian
fi
CARGO_TARGET_DIR=$target "${build[@]}"
# Without schemas, tools and exchanges.
CARGO_TARGET_DIR=$target/small "${build[@]}" --no-default-features --features wire
# Texts alone.
CARGO_TARGET_DIR=$target/core "${build[@]}" --no-default-features

[ -x node_modules/.bin/tsc ] || npm ci --no-fund --no-audit
rm -rf dist
node_modules/.bin/tsc
node_modules/.bin/tsc --project tsconfig.cjs.json
echo '{ "type": "commonjs" }' >dist/cjs/package.json
here() {
  cat <<END
"use strict";
exports.$1 = () => require("node:url").pathToFileURL(require("node:path").join(__dirname, "..", "$2"));
END
}
here moduleUrl wiremend.wasm >dist/cjs/here.js
here coreUrl wiremend-core.wasm >dist/cjs/core-here.js
rm -f dist/cjs/*workerd.*
cp "$target/$triple/wasm/wiremend.wasm" dist/wiremend.wasm
for part in small core; do
  cp "$target/$part/$triple/wasm/wiremend.wasm" "dist/wiremend-$part.wasm"
done
node playground/build.mjs
