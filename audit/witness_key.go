package audit

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// algCosignature is the type of an Ed25519 key that co-signs, in a signed note.
const algCosignature = 4

// cosignatureTime is how many bytes of a cosignature say when.
const cosignatureTime = 8

// witnessKey is the key of a witness as package note wants it: one that verifies, and signs where there is a private key. Cosignatures are
// written here, and not by a library, since that brings another kind of cryptography with it that nothing here uses.
type witnessKey struct {
	name    string
	public  ed25519.PublicKey
	private ed25519.PrivateKey
	at      time.Time
}

// WitnessName is the name of the key with which an agent co-signs.
func WitnessName(agent string) string { return "ostraka/agents/" + agent }

// Witness is the text with which anyone verifies the cosignatures of an agent: a vkey of C2SP signed-note, of the type that
// C2SP tlog-cosignature names.
func Witness(agent string, public ed25519.PublicKey) (string, error) {
	if len(public) != ed25519.PublicKeySize {
		return "", fmt.Errorf("an Ed25519 key has %d bytes, this one has %d", ed25519.PublicKeySize, len(public))
	}
	k := witnessKey{name: WitnessName(agent), public: public}
	return fmt.Sprintf("%s+%08x+%s", k.name, k.KeyHash(), base64.StdEncoding.EncodeToString(k.encoded())), nil
}

// CheckWitness says what is wrong with the text of a witness's key, if something is.
func CheckWitness(text string) error {
	_, err := readWitness(text)
	return err
}

// readWitness reads what Witness wrote.
func readWitness(text string) (witnessKey, error) {
	name, rest, _ := strings.Cut(strings.TrimSpace(text), "+")
	hash, encoded, _ := strings.Cut(rest, "+")
	key, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || len(key) != 1+ed25519.PublicKeySize || key[0] != algCosignature {
		return witnessKey{}, errors.New("the key of the witness cannot be read: it looks like ostraka/agents/ID+8 HEX DIGITS+BASE64")
	}
	k := witnessKey{name: name, public: key[1:]}
	if id, err := strconv.ParseUint(hash, 16, 32); err != nil || uint32(id) != k.KeyHash() || !strings.HasPrefix(name, WitnessName("")) {
		return witnessKey{}, errors.New("the key of the witness is not the one that it says it is")
	}
	return k, nil
}

func (k witnessKey) encoded() []byte { return append([]byte{algCosignature}, k.public...) }

// Name implements note.Verifier and note.Signer.
func (k witnessKey) Name() string { return k.name }

// KeyHash implements note.Verifier and note.Signer.
func (k witnessKey) KeyHash() uint32 {
	sum := sha256.Sum256(append([]byte(k.name+"\n"), k.encoded()...))
	return binary.BigEndian.Uint32(sum[:4])
}

// cosignedText is what a cosignature is over: the time, and the checkpoint without signatures.
func cosignedText(at uint64, body []byte) []byte {
	return append([]byte("cosignature/v1\ntime "+strconv.FormatUint(at, 10)+"\n"), body...)
}

// Verify implements note.Verifier.
func (k witnessKey) Verify(body, signature []byte) bool {
	if len(signature) != cosignatureTime+ed25519.SignatureSize {
		return false
	}
	at := binary.BigEndian.Uint64(signature)
	return ed25519.Verify(k.public, cosignedText(at, body), signature[cosignatureTime:])
}

// Sign implements note.Signer.
func (k witnessKey) Sign(body []byte) ([]byte, error) {
	at := uint64(max(k.at.Unix(), 0))
	return append(binary.BigEndian.AppendUint64(nil, at), ed25519.Sign(k.private, cosignedText(at, body))...), nil
}
