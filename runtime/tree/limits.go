package tree

// Limits on a runtime. All are refused with an error, none truncates.
const (
	// MaxTreeBytes is the size of all files together: an agent has that on its disk, and a server in a container's image.
	MaxTreeBytes = 1 << 30
	// MaxEntries is how many files and links a tree holds: ten times what Python and numpy have.
	MaxEntries = 50_000
	// MaxFolders is how many folders the files lie in: each takes a block of the disk and an inode too.
	MaxFolders = 10_000
	// MaxPieceBytes is the size of one piece: it is held in memory, and sent again as a whole where a connection breaks off.
	MaxPieceBytes = 4 << 20
	// MaxPieces is how many pieces a tree has.
	MaxPieces = 4096
	// MaxPathBytes is the length of a path, and of what a link leads to.
	MaxPathBytes = 240
	// MaxPathDepth is how many components a path has.
	MaxPathDepth = 24
	// MaxManifestBytes is the size of a manifest: fifty thousand long paths, which half of it would not hold.
	MaxManifestBytes = 16 << 20
	// MaxSearched is how many folders a tree may have its libraries or its packages in.
	MaxSearched = 16

	// cutAfter is the size from which on a piece ends where a package does.
	cutAfter = 256 << 10
	// blockBytes is what a file or folder takes on a disk besides its contents: what is small or empty is not for nothing.
	blockBytes = 4096
)
