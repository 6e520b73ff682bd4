package secretfile

import "io/fs"

const openSafely = 0

// othersMayRead cannot be told from a mode: who may read a file is in its access list, which it has from its folder. The agent's
// folder lies in the user's profile, which other users cannot enter.
func othersMayRead(fs.FileMode) bool { return false }
