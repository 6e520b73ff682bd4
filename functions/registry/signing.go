package registry

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/registry/sql"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/guardian"
	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/signing"
)

// MaxBundleSignatures is how many bundles one registration of a key signs again, so that the request fits into a body of JSON. The
// same registration may be sent again with further ones.
const MaxBundleSignatures = 1000

type signingKeyRow struct {
	Generation int
	PublicKey  []byte
	Signature  []byte
	CreatedAt  time.Time
}

func listSigningKeys(ctx context.Context, tx *store.Tx) ([]functions.SigningKey, error) {
	rows, err := store.Many[signingKeyRow](ctx, tx, sql.ListSigningKeys)
	keys := make([]functions.SigningKey, len(rows))
	for i, r := range rows {
		keys[i] = functions.SigningKey(r)
	}
	return keys, err
}

// ListSigningKeys lists all keys that the project ever had, the oldest first. There are at most signing.MaxKeys.
func (s *Service) ListSigningKeys(ctx context.Context, project uuid.UUID) (keys []functions.SigningKey, err error) {
	err = s.env.Project(ctx, project, func(tx *store.Tx) error {
		keys, err = listSigningKeys(ctx, tx)
		return err
	})
	return keys, err
}

// SigningKeyOf is the key of that generation; nil: the project never had it.
func SigningKeyOf(ctx context.Context, tx *store.Tx, generation int) ([]byte, error) {
	keys, err := listSigningKeys(ctx, tx)
	at := slices.IndexFunc(keys, func(k functions.SigningKey) bool { return k.Generation == generation })
	if err != nil || at < 0 {
		return nil, err
	}
	return keys[at].PublicKey, nil
}

// RegisterSigningKey makes a key the project's newest, and stores its signatures over bundles that were pushed before. Registering
// the newest key again only adds signatures, with created false.
func (s *Service) RegisterSigningKey(ctx context.Context, by functions.Principal, project uuid.UUID, k functions.NewSigningKey) (key functions.SigningKey, created bool, err error) {
	if len(k.Bundles) > MaxBundleSignatures {
		return key, false, functions.Invalid("bad_signing_key", fmt.Sprintf("%d bundles are signed at once, at most %d can be", len(k.Bundles), MaxBundleSignatures), "send the rest in a further request")
	}
	err = s.env.Project(ctx, project, func(tx *store.Tx) error {
		if _, err := store.Exec(ctx, tx, sql.LockSigningKeys); err != nil {
			return err
		}
		keys, err := listSigningKeys(ctx, tx)
		if err != nil {
			return err
		}
		created = len(keys) == 0 || !bytes.Equal(keys[len(keys)-1].PublicKey, k.PublicKey)
		about := guardian.Key{ID: signing.Fingerprint(k.PublicKey), Name: base.FormatNumber(int64(k.Generation)), Rotated: k.ReplacesLost}
		intent := base.Intent{By: by, Project: project, Kind: guardian.SigningKey, Subject: about.ID, Facts: guardian.KeyFacts{Key: about}, Asked: signedAgain(k.Bundles)}
		if err := s.env.Ask(ctx, tx, intent); err != nil {
			return err
		}
		if created {
			if err := addSigningKey(ctx, tx, by, project, keys, k); err != nil {
				return err
			}
		}
		if err := signAgain(ctx, tx, project, k, created, len(keys)); err != nil {
			return err
		}
		if keys, err = listSigningKeys(ctx, tx); err == nil {
			key = keys[len(keys)-1]
		}
		return err
	})
	return key, created, err
}

// signedAgain are the bundles that a key signs, each by its function and digest.
func signedAgain(bundles []functions.BundleSignature) []string {
	list := make([]string, len(bundles))
	for i, b := range bundles {
		list[i] = b.Function + " " + b.Digest
	}
	slices.Sort(list)
	return list
}

func addSigningKey(ctx context.Context, tx *store.Tx, by functions.Principal, project uuid.UUID, keys []functions.SigningKey, k functions.NewSigningKey) error {
	if err := checkSigningKey(project, keys, k); err != nil {
		return err
	}
	if _, err := store.Exec(ctx, tx, sql.AddSigningKey, k.Generation, k.PublicKey, k.Signature); err != nil {
		return err
	}
	return base.Audit(ctx, tx, by.Actor(), "signing-key.register", signing.Fingerprint(k.PublicKey), map[string]any{
		"generation": k.Generation, "replaces_lost": k.ReplacesLost, "bundles": len(k.Bundles),
	})
}

// checkSigningKey says whether a key may follow those that there are.
func checkSigningKey(project uuid.UUID, keys []functions.SigningKey, k functions.NewSigningKey) error {
	chain := chainOf(keys)
	link := signing.Link{Generation: k.Generation, PublicKey: k.PublicKey, Signature: k.Signature}
	if _, err := signing.Newest(append(chain, link)); err != nil {
		if k.Generation != len(keys)+1 && len(keys) < signing.MaxKeys {
			return &functions.Error{
				Kind: functions.KindConflict, Code: "signing_key_generation", Message: fmt.Sprintf("the project has %d signing keys, and this one says that it is number %d", len(keys), k.Generation),
				Hint: "somebody has registered a key meanwhile: look at ostraka signing-key list, then try again",
			}
		}
		return functions.Invalid("bad_signing_key", err.Error(), "send an Ed25519 key of 32 bytes and a signature of 64")
	}
	if signing.Has(chain, k.PublicKey) {
		return functions.Invalid("bad_signing_key", "the project had this key before", "make a new one: ostraka signing-key rotate")
	}
	signer := k.PublicKey
	if len(chain) > 0 && !k.ReplacesLost {
		signer = chain[len(chain)-1].PublicKey
	}
	if !link.SignedBy(signer, project) {
		return functions.Invalid("bad_signing_key", "the key is not signed by the project's key number "+fmt.Sprint(max(len(keys), 1)),
			"rotate with the key that the project has: ostraka signing-key rotate; if it is lost: ostraka signing-key create --replace-lost")
	}
	return nil
}

// signAgain stores what the newest key signs of the bundles that are here already.
func signAgain(ctx context.Context, tx *store.Tx, project uuid.UUID, k functions.NewSigningKey, created bool, before int) error {
	generation := before
	if created {
		generation++
	}
	for _, b := range k.Bundles {
		if !signing.VerifyBundle(k.PublicKey, project, b.Function, b.Digest, b.Signature) {
			return badBundleSignature(b.Function, b.Digest)
		}
		n, err := store.Exec(ctx, tx, sql.SignFunctionVersion, b.Function, b.Digest, b.Signature, generation)
		if err != nil {
			return err
		}
		if n == 0 {
			return functions.NotFound("function version", b.Function+" "+b.Digest)
		}
	}
	return nil
}

func badBundleSignature(function, digest string) error {
	return functions.Invalid("bad_bundle_signature", fmt.Sprintf("the signature over %s %s is not by the project's newest signing key", function, digest),
		"sign with that key: ostraka function push DIR --sign-with FILE; ostraka signing-key list shows which it is")
}

// checkSignature says which key of the project signed a bundle: 0 where the project has none and the bundle is not signed.
func checkSignature(ctx context.Context, tx *store.Tx, project uuid.UUID, b *bundle.Bundle, signature []byte) (signer int, err error) {
	keys, err := listSigningKeys(ctx, tx)
	if err != nil {
		return 0, err
	}
	switch {
	case len(keys) == 0 && len(signature) == 0:
		return 0, nil
	case len(keys) == 0:
		return 0, functions.Invalid("no_signing_key", "the bundle is signed, and the project has no signing key", "register it: ostraka signing-key create")
	case len(signature) == 0:
		return 0, unsigned(b.Manifest.Name)
	}
	newest := keys[len(keys)-1]
	if !signing.VerifyBundle(newest.PublicKey, project, b.Manifest.Name, b.Digest, signature) {
		return 0, badBundleSignature(b.Manifest.Name, b.Digest)
	}
	return newest.Generation, nil
}

func unsigned(function string) error {
	return functions.Invalid("unsigned_bundle", "the project signs its functions, and this bundle of "+function+" is not signed by its newest key",
		"push it with the project's signing key: ostraka function push DIR --sign-with FILE")
}

// MustBeSigned refuses to run what no agent of a project with a signing key would execute.
func MustBeSigned(ctx context.Context, tx *store.Tx, f FunctionRow) error {
	keys, err := listSigningKeys(ctx, tx)
	if err == nil && len(keys) > 0 && (f.SignedBy == nil || *f.SignedBy != len(keys)) {
		return unsigned(f.Name)
	}
	return err
}

// LeaseSigning is what an agent is told of the signature over a function; nil where there is none that counts.
func LeaseSigning(ctx context.Context, tx *store.Tx, signedBy *int, signature []byte) (*functions.LeaseSigning, error) {
	if signedBy == nil {
		return nil, nil
	}
	keys, err := listSigningKeys(ctx, tx)
	if err != nil || *signedBy != len(keys) {
		return nil, err
	}
	return &functions.LeaseSigning{Signature: signature, Keys: keys}, nil
}

func chainOf(keys []functions.SigningKey) []signing.Link {
	chain := make([]signing.Link, len(keys), len(keys)+1)
	for i, k := range keys {
		chain[i] = signing.Link{Generation: k.Generation, PublicKey: k.PublicKey, Signature: k.Signature}
	}
	return chain
}

// ListAgentProjects lists the projects whose work the agent may be lent, with their signing keys.
func (s *Service) ListAgentProjects(ctx context.Context, agent uuid.UUID, page functions.ListPage) ([]functions.AgentProject, error) {
	after, err := base.AfterID(page)
	if err != nil {
		return nil, err
	}
	var ids []uuid.UUID
	err = s.env.Control(ctx, func(tx pgx.Tx) error {
		ids, err = store.Values[uuid.UUID](ctx, tx, sql.ListAgentProjects, after, base.PageLimit(page), agent)
		return err
	})
	projects := make([]functions.AgentProject, len(ids))
	for i, id := range ids {
		if err != nil {
			break
		}
		projects[i].Project = id
		projects[i].SigningKeys, err = s.ListSigningKeys(ctx, id)
	}
	return projects, err
}
