// Package source reads the Python of a function without running it: an interpreter parses the files, and says what keeps the function
// from starting on an agent.
package source
