// Package python carries a Python interpreter inside the program: the CPython
// of python-build-standalone, as the Go module go-embed-python ships it, so
// that an agent is one binary and every agent and the server run the same
// bytes. [Install] unpacks it once into a directory of the user's; [System]
// describes another one that the machine's owner prefers.
//
// # What is trusted
//
// The program carries, beside the compressed files, a manifest: path, size,
// mode and SHA-256 of every file that an unpacked tree has, those that Python
// compiles (.pyc) included, because compiling the same source with the same
// interpreter gives the same bytes. The manifest is part of the program and
// nothing on disk takes part in the decision, so a changed tree passes only if
// the program was changed too: [Install] compares every file every time, finds
// missing, changed and extra files, and repairs the tree from the program. [Tree.Digest] is the SHA-256 of the manifest, hence the same
// wherever the same interpreter lies.
//
// The comparison is of one moment. The tree belongs to the user who runs the
// agent, in a directory that no other user may write; it is read-only, but
// that user (a function at the isolation level `process`, say) can change it
// after the comparison, exactly as it can change the program
// itself. The levels from `landlock` upwards give functions no way to write it.
//
// # Layout on disk
//
//	<dir>/              0711  the private directory given to Install
//	  lock              one Install at a time
//	  3.14.6-<digest>/  0755  the tree: folders 0755, files 0444 or 0555
//	  3.14.6-<digest>.use     held while a Tree is in use, so that it is not swept
//	  tmp-*/            0700  a tree being unpacked; swept when its maker is gone
//
// No other user may write the private directory or list it. The tree
// itself is readable by all, because a sandbox reaches it as another user:
// through a bind mount that was made before that user was taken on, or, without
// namespaces, by its path. Interpreters are no secret.
package python

//go:generate go run ./generate
