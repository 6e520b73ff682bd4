// Package wasm runs the modules that project owners bring, by the contract
// ostraka-wasm/1 (docs/modules.md): a WASI preview 1 command that reads a header
// and records as JSON lines and answers with JSON lines.
//
// No module is compiled or run in the server's own process. A Pool checks the
// bytes (package precheck), compiles and runs them in processes that it may kill
// at any time (package runner), keeps those warm for a while, and shares them
// fairly between projects.
//
// What stops a module today is the wall clock and the kill. Deterministic
// metering comes later, and with it a verdict on time that does not depend on
// the machine; until then a deadline is an operational error and is retried.
package wasm

// Contract names the contract between host and module. It changes only with
// what a module can see.
const Contract = "ostraka-wasm/1"
