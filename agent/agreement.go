package agent

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/ostraka/ostraka/agent/secretfile"
	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/runtime/eula"
	"github.com/ostraka/ostraka/runtime/signing"
	"github.com/ostraka/ostraka/runtime/statement"
)

// ErrNotAgreed says that the owner of the machine has not accepted the agreement. Nothing was enrolled.
var ErrNotAgreed = errors.New("the agreement is not accepted")

// The server's words about agreements.
var (
	errEULARequired = codeError("eula_required")
	errEULAMismatch = codeError("eula_mismatch")
)

// Acceptance is what an agent keeps of an agreement that its owner has accepted.
type Acceptance struct {
	Version    string    `json:"version"`
	Digest     string    `json:"digest"` // of the text
	AcceptedAt time.Time `json:"accepted_at"`
	Signature  []byte    `json:"signature"` // by the agent's key, over statement.Acceptance
}

func eulaFile(dataDir string) string { return filepath.Join(dataDir, "eula.json") }

// ReadAcceptance reads what was accepted last in a data directory; the zero value where nothing was.
func ReadAcceptance(dataDir string) (a Acceptance, err error) {
	path := eulaFile(dataDir)
	text, err := secretfile.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return a, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &a)
	}
	if err != nil {
		return Acceptance{}, fmt.Errorf("reading what was accepted: %w; delete %s and accept again", err, path)
	}
	return a, nil
}

// Accept notes that the owner of the machine has accepted an agreement. An agent that runs in the data directory notices it soon.
func Accept(dataDir string, d eula.Document) error {
	if err := os.MkdirAll(dataDir, 0o700); err != nil {
		return fmt.Errorf("making the data directory: %w", err)
	}
	if err := checkPrivate(dataDir); err != nil {
		return err
	}
	key, err := loadKey(filepath.Join(dataDir, keyName))
	if err != nil {
		return err
	}
	return accept(dataDir, key, d)
}

func accept(dataDir string, key ed25519.PrivateKey, d eula.Document) error {
	if err := d.Check(); err != nil {
		return err
	}
	a := Acceptance{Version: d.Version, Digest: d.Digest, AcceptedAt: time.Now().UTC().Truncate(time.Second)}
	a.Signature = ed25519.Sign(key, statement.Acceptance(signing.Public(key), a.Version, a.Digest, a.AcceptedAt))
	text, err := json.MarshalIndent(a, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding the acceptance: %w", err)
	}
	if err := secretfile.Write(eulaFile(dataDir), text); err != nil {
		return fmt.Errorf("keeping the acceptance: %w", err)
	}
	return nil
}

// stated is what the server is sent of an acceptance; nil of none.
func (a Acceptance) stated() *client.Acceptance {
	if a.Digest == "" {
		return nil
	}
	return &client.Acceptance{Version: a.Version, Digest: a.Digest, AcceptedAt: a.AcceptedAt, Signature: a.Signature}
}

// agree comes before everything else: it has the owner of the machine accept what the server asks for. An agent that has joined before
// goes on without, and idle, until a new version is accepted; one that has not ends here.
func (a *agent) agree(ctx context.Context) error {
	var d eula.Document
	err := a.persist(ctx, "reading the agreement", func(ctx context.Context) (err error) {
		d, err = a.server.eula(ctx)
		return err
	})
	if err != nil {
		return fmt.Errorf("reading the agreement: %w", err)
	}
	kept, err := ReadAcceptance(a.dir.path)
	if err != nil || kept.Digest == d.Digest {
		return err
	}
	if a.options.Agree != nil {
		yes, err := a.options.Agree(ctx, d)
		if err != nil {
			return err
		}
		if yes {
			a.log.Info("the agreement is accepted", "version", d.Version, "digest", d.Digest)
			return accept(a.dir.path, a.key, d)
		}
	}
	joined, err := readEnrolment(a.dir.enrolmentFile())
	if err != nil {
		return err
	}
	if joined.URL != a.options.URL {
		return fmt.Errorf("%w: the server asks for version %s", ErrNotAgreed, d.Version)
	}
	a.stands.ordered(waitsForAgreement(d.Version, a.dir.path), idle{})
	return nil
}

func waitsForAgreement(version, dataDir string) idle {
	return idle{IdleEULA, fmt.Sprintf("version %s of the agreement must be accepted first: ostraka agent eula accept --data %s", version, dataDir)}
}

// settleAgreement sends the server what it misses: a new version that was accepted while the agent waited, or an acceptance that a
// restored server has forgotten. It says whether nothing is missing any more.
func (a *agent) settleAgreement(ctx context.Context, missing client.EULAReference) (settled bool, err error) {
	kept, err := ReadAcceptance(a.dir.path)
	if err != nil || kept.Digest != missing.Digest {
		return false, err
	}
	if err := a.server.acceptEULA(ctx, *kept.stated()); err != nil {
		return false, fmt.Errorf("telling the server that the agreement is accepted: %w", err)
	}
	a.log.Info("the server knows now that the agreement is accepted", "version", kept.Version, "digest", kept.Digest)
	return true, nil
}
