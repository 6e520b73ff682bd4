#!/bin/sh
# Builds function.wasm with Go 1.22 or later.
set -eu
cd "$(dirname "$0")"
GOOS=wasip1 GOARCH=wasm go build -trimpath -ldflags=-s -o function.wasm .
