package audit

import (
	"errors"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"
)

// MaxConsistencyHashes is how many hashes a proof that one tree grows out of another may have: for each of the 63 levels of a tree two, and
// no tree needs as many.
const MaxConsistencyHashes = 2 * 63

// ProveConsistency lists the hashes that prove that the log of size to begins with the log of size from.
func ProveConsistency(from, to int64, nodes Nodes) ([]Hash, error) {
	if from < 1 || to < from {
		return nil, fmt.Errorf("nothing proves that a log of %d records begins with %d of them", to, from)
	}
	proof, err := tlog.ProveTree(to, from, nodes)
	if err != nil {
		return nil, fmt.Errorf("proving that %d records are the first of %d: %w", from, to, err)
	}
	return proof, nil
}

// CheckConsistency verifies that the log of the newer checkpoint begins with that of the older one.
func CheckConsistency(older, newer Checkpoint, proof []Hash) error {
	switch {
	case older.Origin != newer.Origin:
		return fmt.Errorf("the checkpoints are of two logs, %q and %q", older.Origin, newer.Origin)
	case older.Size < 1 || newer.Size < older.Size:
		return fmt.Errorf("no log of %d records grows out of one of %d", newer.Size, older.Size)
	case len(proof) > MaxConsistencyHashes:
		return fmt.Errorf("a proof of %d hashes: one has at most %d", len(proof), MaxConsistencyHashes)
	}
	if err := tlog.CheckTree(proof, newer.Size, newer.Root, older.Size, older.Root); err != nil {
		return errors.New("the proof does not lead from the one checkpoint to the other")
	}
	return nil
}
