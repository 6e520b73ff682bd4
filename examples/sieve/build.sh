#!/usr/bin/env bash
# Builds function.wasm, which is committed beside its source: clang 14 and wasi-libc of Debian 12 make the same bytes everywhere.
#
#   examples/sieve/build.sh [FILE]    into FILE instead of function.wasm
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
readonly clang=${CLANG:-/usr/bin/clang} want_clang=14.0.6
if [[ $("$clang" --version | head -n 1) != *"$want_clang"* ]]; then
    echo "build.sh: $clang is not version $want_clang, which the committed bytes come from: scripts/setup.sh modules on Debian 12, or set CLANG" >&2
    exit 1
fi
# In two steps: clang that optimises and links runs wasm-opt where that is installed, and makes other bytes.
object=$(mktemp)
trap 'rm -f "$object"' EXIT
"$clang" --target=wasm32-wasi -O2 -Wall -Wextra -Werror -c -o "$object" sieve.c
"$clang" --target=wasm32-wasi -Wl,--strip-all -o "${1:-function.wasm}" "$object"
