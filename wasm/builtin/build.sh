#!/bin/sh
# Builds the built-in modules into the directory given, by default beside this
# script. The same compiler gives the same bytes, so that anyone can check what is
# committed: `make check-modules` does, and so does builtin_test.go when
# OSTRAKA_REBUILD=1.
#
# Needs, on Debian 12: apt-get install rustc libstd-rust-dev-wasm32 lld clang wasi-libc libclang-rt-14-dev-wasm32
set -eu
want=1.63.0
rustc=${RUSTC:-/usr/bin/rustc}
here=$(cd "$(dirname "$0")" && pwd)
dir=${1:-$here}
have=$("$rustc" --version | cut -d' ' -f2)
if [ "$have" != "$want" ]; then
	echo "build.sh: $rustc is version $have; the committed bytes come from $want of Debian 12 (apt-get install rustc libstd-rust-dev-wasm32 lld), or set RUSTC" >&2
	exit 1
fi
case $dir in /*) ;; *) dir=$PWD/$dir ;; esac
cd "$here"
libc=$("$rustc" --print sysroot)/lib/rustlib/wasm32-wasi/lib/self-contained
export RUSTC_BOOTSTRAP=1 # a handler of memory that runs out is a feature of later versions

# The modules do without Rust's standard library (src/wasi.rs), and so without its
# start files: only memcmp and log2 come from the C library. The stack is a quarter of
# what Rust takes by itself; it is zeroed for every batch.
#
# build NAME SOURCE makes NAME.wasm; the crate's name is part of the bytes.
build() {
	"$rustc" --edition 2021 --target wasm32-wasi --crate-type bin --crate-name "$(echo "$1" | tr - _)" \
		-C opt-level=z -C lto=fat -C codegen-units=1 -C panic=abort -C strip=symbols -C target-feature=+bulk-memory \
		-C linker=wasm-ld -C link-self-contained=no -L "native=$libc" -C link-arg=-zstack-size=262144 \
		-C link-arg=--compress-relocations -C link-arg=-O2 --remap-path-prefix "$here=." -D warnings \
		-o "$dir/$1.wasm" "src/$2"
}
# build_c is the same for a module in C.
clang=${CLANG:-/usr/bin/clang}
want_clang=14.0.6
build_c() {
	if ! "$clang" --version | grep -q "version $want_clang"; then
		echo "build.sh: $clang is not version $want_clang, which the committed bytes come from: scripts/setup.sh modules on Debian 12, or set CLANG" >&2
		exit 1
	fi
	# In two steps: clang that optimises and links runs wasm-opt where that is installed, and makes other bytes.
	(cd src && "$clang" --target=wasm32-wasi -Oz -Wall -Wextra -Werror -c -o "$dir/$1.o" "$2")
	"$clang" --target=wasm32-wasi -Wl,--strip-all,--compress-relocations,-O2 -o "$dir/$1.wasm" "$dir/$1.o"
	rm "$dir/$1.o"
}
build aggregate main.rs
build tolerant tolerant.rs
build code-risk risk.rs
build_c anomaly anomaly.c
