package audit

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/transparency-dev/formats/proof"
	"golang.org/x/mod/sumdb/note"
)

// MaxReceiptWitnesses is how many cosignatures the checkpoint of a receipt has at most, one for each owner of machines.
const MaxReceiptWitnesses = 16

// WitnessStated is the key of an agent that has co-signed the checkpoint of a receipt. Its cosignature is behind the log's, in the same order.
type WitnessStated struct {
	Key string `json:"key"`
}

// WitnessSeen is a cosignature that verifies. Whose agent it is, is the server's word.
type WitnessSeen struct {
	Name string    `json:"name"`
	Key  string    `json:"key"`
	At   time.Time `json:"at"` // by the clock of the agent
}

// openWitnesses verifies the cosignatures of a checkpoint: exactly those of the witnesses that are stated, in their order, behind the log's.
func openWitnesses(text []byte, log string, stated []WitnessStated) ([]WitnessSeen, error) {
	if len(stated) > MaxReceiptWitnesses {
		return nil, fmt.Errorf("it names %d witnesses: a receipt has at most %d", len(stated), MaxReceiptWitnesses)
	}
	own, err := note.NewVerifier(log)
	if err != nil {
		return nil, fmt.Errorf("reading the key of the log: %w", err)
	}
	verifiers, names := []note.Verifier{own}, map[string]bool{}
	for _, w := range stated {
		key, err := readWitness(w.Key)
		if err != nil {
			return nil, err
		}
		if again, err := Witness(strings.TrimPrefix(key.name, WitnessName("")), key.public); err != nil || again != w.Key || names[key.name] {
			return nil, fmt.Errorf("the key of the witness %s is not written as one is, or stands there twice", key.name)
		}
		names[key.name] = true
		verifiers = append(verifiers, key)
	}
	n, err := note.Open(text, note.VerifierList(verifiers...))
	if err != nil {
		return nil, fmt.Errorf("reading the checkpoint: %w", err)
	}
	if len(n.UnverifiedSigs) > 0 || len(n.Sigs) != len(verifiers) {
		return nil, errors.New("the checkpoint of the receipt has signatures of others than the log and the witnesses that it names, or not all of theirs")
	}
	seen := make([]WitnessSeen, len(stated))
	for i, w := range stated {
		s := n.Sigs[i+1]
		if s.Name != verifiers[i+1].Name() {
			return nil, errors.New("the cosignatures of the receipt are not in the order of its witnesses")
		}
		at, err := cosignedAt(s)
		if err != nil {
			return nil, err
		}
		seen[i] = WitnessSeen{Name: s.Name, Key: w.Key, At: at}
	}
	return seen, nil
}

// checkpointOf is the checkpoint in a proof that was read already.
func checkpointOf(text []byte) ([]byte, error) {
	var p proof.TLogProof
	if err := p.Unmarshal(text); err != nil {
		return nil, fmt.Errorf("this is no tlog-proof: %w", err)
	}
	return p.Checkpoint, nil
}
