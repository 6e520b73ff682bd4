package guardian

const (
	// CostLimit bounds one evaluation, in CEL's units of about one operation. It is enough to look at each of MaxFindings findings in
	// some twenty ways, and takes milliseconds at most.
	CostLimit = 100_000
	// MemoryLimit bounds each value that an evaluation makes, in CEL's units of one element, or ten bytes of a text. The list of MaxFindings
	// findings with texts of a KiB counts as a quarter of it.
	MemoryLimit = 1 << 19
	// MaxRules is how many rules one layer has at most. All of them are looked at for each operation.
	MaxRules = 100
	// MaxQuorum is the largest quorum that a condition asks for, that of functions.
	MaxQuorum = 16
	// MaxReason is the longest reason of a rule, in bytes: it is one sentence.
	MaxReason = 300
	// MaxOwners is how many owners a condition names at most.
	MaxOwners = 100
	// MaxFindings is how many findings an operation carries at most, the heaviest of each rule first: see Trim.
	MaxFindings = 1000
)
