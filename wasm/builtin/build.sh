#!/bin/sh
# Builds the built-in aggregator into the file given, by default aggregate.wasm
# beside this script. The same compiler gives the same bytes, so that anyone can
# check what is committed: builtin_test.go compares when OSTRAKA_REBUILD=1.
#
# Needs, on Debian 12: apt-get install rustc libstd-rust-dev-wasm32 lld
set -eu
want=1.63.0
rustc=${RUSTC:-/usr/bin/rustc}
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here/aggregate.wasm}
have=$("$rustc" --version | cut -d' ' -f2)
if [ "$have" != "$want" ]; then
	echo "build.sh: $rustc is version $have; the committed bytes come from $want of Debian 12 (apt-get install rustc libstd-rust-dev-wasm32 lld), or set RUSTC" >&2
	exit 1
fi
case $out in /*) ;; *) out=$PWD/$out ;; esac
cd "$here"
"$rustc" --edition 2021 --target wasm32-wasi --crate-type bin --crate-name aggregate \
	-C opt-level=z -C lto=fat -C codegen-units=1 -C panic=abort -C strip=symbols \
	-C linker=wasm-ld -C link-arg=--compress-relocations -C link-arg=-O2 --remap-path-prefix "$here=." -D warnings \
	-o "$out" src/main.rs
