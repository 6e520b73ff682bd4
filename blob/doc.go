// Package blob stores objects: bundles, modules, inputs, large outputs and
// artifacts.
//
// An object is named by its project and by the SHA-256 of its bytes, and lives
// under projects/<guid>/objects/sha256/<first two digits>/<digest>. Nothing is
// trusted on the way back: every read hashes what it reads, and bytes that do
// not match their name are never returned as good.
//
// Dir keeps the objects in a local directory, S3 on any server that speaks S3;
// blob/blobtest is the contract that both must pass.
package blob
