// Package wasm runs the modules that project owners bring, by the contract
// ostraka-wasm/1 (docs/modules.md): a WASI preview 1 command that reads a header
// and records as JSON lines and answers with JSON lines.
//
// No module is compiled or run in the server's own process. A Pool checks the
// bytes (package precheck), compiles and runs them in processes that it may kill
// at any time (package runner), keeps those warm for a while, and shares them
// fairly between projects.
//
// Every module is metered (package meter): it counts its own instructions, the
// same number in every run and on every machine, and ends when a batch has used
// up its fuel, which is final. A deadline by the clock is operational.
package wasm

// Contract names the contract between host and module. It changes only with
// what a module can see.
const Contract = "ostraka-wasm/1"
