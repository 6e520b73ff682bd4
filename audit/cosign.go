package audit

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"
)

// MaxCosignatures is how many cosignatures are shown with a checkpoint: a note has at most 100 signatures, and one is the log's.
const MaxCosignatures = 99

// Cosigned is a checkpoint that a witness has co-signed.
type Cosigned struct {
	Checkpoint
	At   time.Time // by the clock of the witness
	Line string    // the cosignature as it stands in the note
}

// Cosign adds a witness' cosignature, as C2SP tlog-cosignature has it, to a checkpoint that the log has signed. The key must do nothing else:
// what is signed does not say whose it is. What others have signed is left out.
func Cosign(text []byte, log, agent string, key ed25519.PrivateKey, at time.Time) ([]byte, error) {
	if _, err := Open(text, log); err != nil {
		return nil, err
	}
	public, ok := key.Public().(ed25519.PublicKey)
	if !ok {
		return nil, errors.New("the key of the witness is no Ed25519 key")
	}
	v, err := note.NewVerifier(strings.TrimSpace(log))
	if err != nil {
		return nil, fmt.Errorf("reading the key of the log: %w", err)
	}
	n, err := note.Open(text, note.VerifierList(v))
	if err != nil {
		return nil, fmt.Errorf("reading the checkpoint: %w", err)
	}
	n.UnverifiedSigs = nil
	signed, err := note.Sign(n, witnessKey{name: WitnessName(agent), public: public, private: key, at: at})
	if err != nil {
		return nil, fmt.Errorf("co-signing a checkpoint: %w", err)
	}
	return signed, nil
}

// OpenCosigned verifies a checkpoint that both the log and the witness have signed, and no other key.
func OpenCosigned(text []byte, log, witness string) (c Cosigned, err error) {
	if c.Checkpoint, err = Open(text, log); err != nil {
		return c, err
	}
	key, err := readWitness(witness)
	if err != nil {
		return c, err
	}
	n, err := note.Open(text, note.VerifierList(key))
	if err != nil {
		return c, fmt.Errorf("the checkpoint is not co-signed by %s: %w", key.name, err)
	}
	if len(n.UnverifiedSigs) != 1 { // the log's, which Open has verified
		return c, errors.New("the checkpoint has signatures of others than the log and the witness")
	}
	s := n.Sigs[0]
	if c.At, err = cosignedAt(s); err != nil {
		return c, err
	}
	c.Line = "— " + s.Name + " " + s.Base64 + "\n"
	if !strings.HasSuffix(string(text), c.Line) {
		return c, errors.New("the cosignature stands in front of the log's signature: it belongs behind it")
	}
	return c, nil
}

// cosignedAt is when a cosignature that verifies was made.
func cosignedAt(s note.Signature) (time.Time, error) {
	raw, err := base64.StdEncoding.DecodeString(s.Base64)
	const id = 4 // bytes that name the key
	if err != nil || len(raw) < id+cosignatureTime {
		return time.Time{}, errors.New("a cosignature is not written as one is")
	}
	at := binary.BigEndian.Uint64(raw[id:])
	if at > math.MaxUint32 { // the year 2106
		return time.Time{}, errors.New("a cosignature is of a time that is far away")
	}
	return time.Unix(int64(at), 0).UTC(), nil
}

// WithCosignatures appends the lines of cosignatures to a signed checkpoint; of more than MaxCosignatures the first.
func WithCosignatures(checkpoint string, lines ...string) string {
	return checkpoint + strings.Join(lines[:min(len(lines), MaxCosignatures)], "")
}
