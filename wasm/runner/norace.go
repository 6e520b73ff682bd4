//go:build !race

package runner

// dataFactor is what RLIMIT_DATA is multiplied by; only a binary with the race
// detector needs more than it says.
const dataFactor = 1

// executable is the program that a runner is.
func executable() string { return self }
