package audit

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/transparency-dev/formats/log"
	"golang.org/x/mod/sumdb/note"
)

// MaxCheckpointBytes is how long a checkpoint with all its signatures may be: three short lines, and some hundred bytes for each
// signature, of which a note has at most 100.
const MaxCheckpointBytes = 32 << 10

// Checkpoint is the head of a log: its origin names the log, the root commits to its first Size records.
type Checkpoint struct {
	Origin string
	Size   int64
	Root   Hash
}

// Key signs the checkpoints of a server's logs. It signs nothing else.
type Key struct{ seed [ed25519.SeedSize]byte }

// keyPrefix tells people and secret scanners what they have found.
const keyPrefix = "ostraka_log_"

// NewKey makes a key.
func NewKey() Key {
	var k Key
	_, _ = rand.Read(k.seed[:]) // never fails: it ends the program instead
	return k
}

// ParseKey reads what Secret wrote.
func ParseKey(text string) (Key, error) {
	var k Key
	seed, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(strings.TrimSpace(text), keyPrefix))
	if err != nil || len(seed) != len(k.seed) || !strings.HasPrefix(strings.TrimSpace(text), keyPrefix) {
		return k, errors.New("this is no key of a log: one begins with " + keyPrefix + " and is made by `ostraka audit key`")
	}
	copy(k.seed[:], seed)
	return k, nil
}

// Secret is the key as a text, which must be kept as a secret.
func (k Key) Secret() string { return keyPrefix + base64.RawURLEncoding.EncodeToString(k.seed[:]) }

// Zero says whether there is no key.
func (k Key) Zero() bool { return k == Key{} }

// algEd25519 is the type of a key in a signed note.
const algEd25519 = 1

func (k Key) private() ed25519.PrivateKey { return ed25519.NewKeyFromSeed(k.seed[:]) }

// Verifier is the text with which anyone verifies the checkpoints of one log (a vkey of C2SP signed-note): it holds the log's name and
// the public key.
func (k Key) Verifier(origin string) (string, error) {
	public, ok := k.private().Public().(ed25519.PublicKey)
	if !ok {
		return "", errors.New("the key of the log is no Ed25519 key")
	}
	return note.NewEd25519VerifierKey(origin, public)
}

// Sign makes the signed note of a checkpoint. The name of the key is the origin of the log, as C2SP tlog-checkpoint asks.
func (k Key) Sign(c Checkpoint) ([]byte, error) {
	public, _ := k.private().Public().(ed25519.PublicKey)
	id := sha256.Sum256(append([]byte(c.Origin+"\n"), append([]byte{algEd25519}, public...)...))
	signer, err := note.NewSigner(fmt.Sprintf("PRIVATE+KEY+%s+%08x+%s", c.Origin, binary.BigEndian.Uint32(id[:4]),
		base64.StdEncoding.EncodeToString(append([]byte{algEd25519}, k.seed[:]...))))
	if err != nil {
		return nil, fmt.Errorf("the key of the log %s: %w", c.Origin, err)
	}
	body := log.Checkpoint{Origin: c.Origin, Size: uint64(max(c.Size, 0)), Hash: c.Root[:]}
	text, err := note.Sign(&note.Note{Text: string(body.Marshal())}, signer)
	if err != nil {
		return nil, fmt.Errorf("signing a checkpoint of %s: %w", c.Origin, err)
	}
	return text, nil
}

// CheckVerifier says what is wrong with the text of a log's key, if something is.
func CheckVerifier(text string) error {
	if _, err := note.NewVerifier(strings.TrimSpace(text)); err != nil {
		// It is not quoted: it may be the secret one.
		return errors.New("the key of the log cannot be read: it looks like NAME+8 HEX DIGITS+BASE64 (`ostraka audit checkpoint` shows it)")
	}
	return nil
}

// Open verifies a signed checkpoint with the verifier of its log.
func Open(text []byte, verifier string) (Checkpoint, error) {
	if len(text) > MaxCheckpointBytes {
		return Checkpoint{}, fmt.Errorf("a checkpoint of %d bytes: one has at most %d", len(text), MaxCheckpointBytes)
	}
	if err := CheckVerifier(verifier); err != nil {
		return Checkpoint{}, err
	}
	v, err := note.NewVerifier(strings.TrimSpace(verifier))
	if err != nil {
		return Checkpoint{}, fmt.Errorf("reading the key of the log: %w", err)
	}
	c, rest, signed, err := log.ParseCheckpoint(text, v.Name(), v)
	if err != nil {
		return Checkpoint{}, fmt.Errorf("the checkpoint is not signed by the log %s, or was changed: %w", v.Name(), err)
	}
	if err := written(text, signed); err != nil {
		return Checkpoint{}, err
	}
	if len(rest) > 0 || c.Size > math.MaxInt64 || len(c.Hash) != len(Hash{}) {
		return Checkpoint{}, errors.New("the checkpoint is signed, but says what none of ours says")
	}
	return Checkpoint{Origin: c.Origin, Size: int64(c.Size), Root: Hash(c.Hash)}, nil
}

// written refuses a note that another text stands for: base64 has spare bits that no signature covers, and a receipt in which a byte
// was changed must not pass.
func written(text []byte, n *note.Note) error {
	again, err := note.Sign(n)
	if err != nil {
		return fmt.Errorf("reading the checkpoint: %w", err)
	}
	for _, s := range append(n.Sigs, n.UnverifiedSigs...) {
		if _, err := base64.StdEncoding.Strict().DecodeString(s.Base64); err != nil {
			return fmt.Errorf("the signature of %s at the checkpoint is not written as one is: %w", s.Name, err)
		}
	}
	if string(again) != string(text) {
		return errors.New("the checkpoint is not written as one is: something stands in it that is no part of it")
	}
	return nil
}

// Origin is the origin that a checkpoint says it has; nothing of it is verified.
func Origin(text []byte) string {
	line, _, _ := strings.Cut(string(text[:min(len(text), 1<<10)]), "\n")
	return line
}
