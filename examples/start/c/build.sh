#!/bin/sh
# Builds function.wasm with clang and wasi-libc (Debian: clang lld wasi-libc libclang-rt-14-dev-wasm32), or with a WASI SDK: CC=/opt/wasi-sdk/bin/clang.
set -eu
cd "$(dirname "$0")"
"${CC:-clang}" --target=wasm32-wasi -O2 -Wall -Wextra -o function.wasm main.c
