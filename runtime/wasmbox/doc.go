// Package wasmbox executes functions in WebAssembly: the level of isolation
// `wasm`.
//
// A function is a command for WASI preview 1. For every shard it gets a fresh
// instance, the shard's input as one line of JSON on stdin, and no more: no
// files, no network, no environment, no clock but one that stands still until
// it is read, and random numbers that follow from the shard's seed. Its stdout
// must be one JSON value. It runs in a process of its own
// (package wasm/runner), with a meter in its code (package wasm/meter), so that
// it ends when its fuel does, at the same instruction on every machine.
//
// Answers agree bit for bit between machines: see docs/functions-wasm.md.
package wasmbox
