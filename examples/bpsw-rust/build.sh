#!/usr/bin/env bash
# Builds function.wasm, which is committed beside its source: Rust 1.63 of Debian 12 makes the same bytes everywhere.
#
#   examples/bpsw-rust/build.sh [FILE]    into FILE instead of function.wasm
set -euo pipefail
out=$(realpath -m "${1:-$(dirname "${BASH_SOURCE[0]}")/function.wasm}")
cd "$(dirname "${BASH_SOURCE[0]}")"
readonly rustc=${RUSTC:-/usr/bin/rustc} want_rust=1.63.0
if [[ $("$rustc" --version) != *"$want_rust"* ]]; then
    echo "build.sh: $rustc is not version $want_rust, which the committed bytes come from: scripts/setup.sh modules on Debian 12, or set RUSTC" >&2
    exit 1
fi
"$rustc" --edition 2021 --target wasm32-wasi --crate-name bpsw -C opt-level=3 -C lto=fat -C codegen-units=1 -C panic=abort \
    -C strip=symbols -C linker=wasm-ld --remap-path-prefix "$PWD=." -D warnings -o "$out" bpsw.rs
