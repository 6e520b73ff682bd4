// Package tree makes and keeps the content of a runtime: a folder with a Python interpreter, packages, native code and the shared libraries that all
// of it needs, under one digest.
//
// # What it is
//
// A runtime is a [Manifest], which lists folders of files and links, and [Piece]s of a few MiB, which hold the contents of the files one
// after the other. Its digest is the SHA-256 of the manifest's bytes, and pieces are named by theirs: the same files make the same digest
// on every machine. There are no times and no owners in it, files are read-only, and the only mode that differs is the right to be
// executed. A piece ends where a package ends, so that a change in one package changes only its own pieces.
//
// # Who makes it and who reads it
//
// [Collect] takes an interpreter with its packages and libraries from a root file system, on the machine of the person who wants them.
// [Pack] makes the manifest and the pieces of a folder. A server checks manifests ([Parse]) and keeps pieces like any object. Agents and
// servers, which run functions in the tree, keep it in a [Cache]: unpacked once for all functions, compared with its pieces when a process
// first uses it.
//
// Everything in it is a stranger's, the interpreter too. It runs only in a sandbox, and even its version is asked only there.
// It is started by the dynamic loader that it brings along, so that it needs only the kernel of the machine, and is at the
// same place in all sandboxes that have a root of their own.
package tree
