#!/bin/sh
# Builds function.wasm with AssemblyScript, which npx fetches where ASC does not name a compiler.
set -eu
cd "$(dirname "$0")"
asc=${ASC:-npx --yes --package assemblyscript@0.28.20 asc}
$asc main.ts -O3 --runtime stub --exportStart _start --use abort=main/abort -o function.wasm
