package python

import "io/fs"

// ownedByUs trusts Windows' access control lists: a user's cache folder is that
// user's.
func ownedByUs(fs.FileInfo) error { return nil }
