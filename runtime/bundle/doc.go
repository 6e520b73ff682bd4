// Package bundle packs a function into one archive and checks archives that
// strangers send.
//
// A bundle is a gzipped tar of regular files with function.toml at its root.
// The bytes that Pack writes depend only on the names, the contents and the
// executable bits of the files, so equal folders have equal digests. Verify
// trusts nothing: every size is counted as it is read, never believed.
package bundle
