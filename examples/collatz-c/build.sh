#!/usr/bin/env bash
# Compiles the extension and makes a wheel of it in a folder: ./wheels here, or the one that is named. It needs a C compiler and Python's
# headers (Debian: apt install gcc libc6-dev libpython3-dev).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
wheels=${1:-$here/wheels}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
headers=$(python3 -c 'import sysconfig; print(sysconfig.get_paths()["include"])')
"${CC:-gcc}" -O2 -Wall -Wextra -shared -fPIC -Wl,--build-id=none "-ffile-prefix-map=$here=." "-I$headers" \
    -o "$work/_collatz.abi3.so" "$here/collatz.c"
mkdir -p "$wheels"
python3 "$here/make_wheel.py" "$work/_collatz.abi3.so" "$wheels"
