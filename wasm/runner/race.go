//go:build race

package runner

// dataFactor is what RLIMIT_DATA is multiplied by: the race detector keeps a
// shadow of all memory that counts as data.
const dataFactor = 16
