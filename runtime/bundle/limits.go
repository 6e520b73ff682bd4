package bundle

// Limits on a bundle. All are refused with an error, none truncates.
const (
	// MaxArchiveBytes is the size of the compressed archive: it is held in
	// memory and fetched by every agent.
	MaxArchiveBytes = 16 << 20
	// MaxUnpackedBytes is the sum of the sizes of all files.
	MaxUnpackedBytes = 64 << 20
	// MaxFiles is how many files a bundle holds: a vendored library or two.
	MaxFiles = 2000
	// MaxPathBytes is the length of a file's path inside the bundle; it leaves
	// room for the directory it is unpacked into under PATH_MAX.
	MaxPathBytes = 240
	// MaxPathDepth is how many components such a path has.
	MaxPathDepth = 16
	// MaxManifestBytes is the size of function.toml.
	MaxManifestBytes = 64 << 10
	// MaxParamsBytes is the size of an aggregator's parameters as JSON; every
	// call of the module carries them.
	MaxParamsBytes = 16 << 10
	// MaxDescriptionBytes is the length of a function's description.
	MaxDescriptionBytes = 1000
)

// tarOverhead bounds what a tar stream holds besides file contents: headers,
// extended headers, padding and the trailer, four blocks a file and some.
const tarOverhead = (MaxFiles + MaxFiles*MaxPathDepth) * 4 * 512
