#!/usr/bin/env bash
# Builds the example modules that are committed beside their sources: those in C, Rust
# and AssemblyScript. (Go's are megabytes, and every machine that tests has Go.) The
# compilers of Debian 12 and the pinned AssemblyScript make the same bytes everywhere.
#
#   examples/modules/build.sh [DIR]    into DIR/NAME.wasm instead of NAME/NAME.wasm
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
readonly clang=${CLANG:-/usr/bin/clang} rustc=${RUSTC:-/usr/bin/rustc}
readonly asc=${ASC:-../../.cache/assemblyscript/node_modules/.bin/asc}
readonly want_clang=14.0.6 want_rust=1.63.0

need() {
    [[ $2 == *"$3"* ]] || { echo "build.sh: $1 is not version $3, which the committed bytes come from: scripts/setup.sh modules on Debian 12, or set CLANG, RUSTC or ASC" >&2; exit 1; }
}
need "$clang" "$("$clang" --version | head -n 1)" "$want_clang"
need "$rustc" "$("$rustc" --version)" "$want_rust"

out() { if [[ -n ${dir:-} ]]; then echo "$dir/$1.wasm"; else echo "$PWD/$1/$1.wasm"; fi; }
dir=${1:+$(realpath "$1")}

# In two steps: clang that optimises and links runs wasm-opt where that is installed, and makes other bytes.
object=$(mktemp)
trap 'rm -f "$object"' EXIT
"$clang" --target=wasm32-wasi -O2 -msimd128 -Wall -Wextra -Werror -c -o "$object" stats/stats.c
"$clang" --target=wasm32-wasi -Wl,--strip-all -o "$(out stats)" "$object"
"$clang" --target=wasm32-wasi -O2 -Wall -Wextra -Werror -c -o "$object" ../planners/refine/refine.c
"$clang" --target=wasm32-wasi -Wl,--strip-all -o "${dir:-../planners/refine}/refine.wasm" "$object"
for name in agree proved; do
    (cd "$name" && "$rustc" --edition 2021 --target wasm32-wasi --crate-name "$name" -C opt-level=3 -C lto=fat -C codegen-units=1 \
        -C panic=abort -C strip=symbols -C linker=wasm-ld --remap-path-prefix "$PWD=." -D warnings -o "$(cd .. && out "$name")" "$name.rs")
done
for name in tidy summary; do
    (cd "../planners/$name" && "$rustc" --edition 2021 --target wasm32-wasi --crate-name "$name" -C opt-level=3 -C lto=fat -C codegen-units=1 \
        -C panic=abort -C strip=symbols -C linker=wasm-ld --remap-path-prefix "$PWD=." -D warnings -o "${dir:-.}/$name.wasm" "$name.rs")
done
asc_path=$(realpath "$asc")
(cd outlier && "$asc_path" outlier.ts -O3 --runtime stub --exportStart _start --use abort=outlier/abort -o "$(cd .. && out outlier)")
