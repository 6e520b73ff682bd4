//go:build race

package runner

import (
	"cmp"
	"os"
)

// dataFactor is what RLIMIT_DATA is multiplied by: the race detector keeps a
// shadow of all memory that counts as data.
const dataFactor = 16

// raceRunner names the program of this tree, built without the race detector, which tests run modules in: the detector makes a runner many times
// as slow, and the tests of this package and of wasm, which leave it unset, look for races in one.
const raceRunner = "RACE_WASM_RUNNER"

// executable is the program that a runner is.
func executable() string { return cmp.Or(os.Getenv(raceRunner), self) }
