#!/bin/sh
# Builds function.wasm with rustc and its standard library for WASI: rustup target add wasm32-wasip1, or Debian's rustc, libstd-rust-dev-wasm32 and lld.
set -eu
cd "$(dirname "$0")"
rustc=${RUSTC:-rustc}
target=wasm32-wasip1
"$rustc" --print target-list | grep -qx "$target" || target=wasm32-wasi # before 1.78
linker=
[ ! -x "$(command -v wasm-ld)" ] || linker="-C linker=wasm-ld"
# shellcheck disable=SC2086 # two words, or none
"$rustc" --edition 2021 --target "$target" -C opt-level=3 -C panic=abort -C strip=symbols $linker -o function.wasm main.rs
