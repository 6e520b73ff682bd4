package main

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/uuid"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ostraka/ostraka/agent/secretfile"
	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
	"github.com/ostraka/ostraka/runtime/signing"
)

const signingKeyHelp = `Keys with which a project's owner signs functions, so that agents know where they come from. The private
key is a file on the owner's machine and is never sent; the server and the agents know the public half.

Once a project has a key, the server takes no function without a signature, and agents that know the key
execute nothing else: not even a server that was taken over can make them.

Keep a copy of the file in a safe place. Whoever has it can sign for the project. When it is replaced
(rotate), the old key vouches for the new one and agents follow by themselves. When it is lost
(create --replace-lost), each agent's owner must be told the new fingerprint.`

func newSigningKey(t *terminal, server *serverFlags) *cobra.Command {
	cmd := noun("signing-key", "The keys with which the project's owner signs functions",
		newSigningKeyCreate(t, server), newSigningKeyList(t, server), newSigningKeyRotate(t, server))
	cmd.Long = signingKeyHelp
	return cmd
}

// signingFlag says where the project's signing key is.
type signingFlag struct{ path string }

func (s *signingFlag) register(f *pflag.FlagSet, name string) {
	f.StringVar(&s.path, name, "", "file of the project's signing key (or OSTRAKA_SIGNING_KEY); left out: one in the user's folder of settings")
}

// file is the file that is named, or the usual one of the project.
func (s *signingFlag) file(t *terminal, project uuid.UUID) (path string, named bool, err error) {
	if path = firstOf(s.path, t.env("OSTRAKA_SIGNING_KEY")); path != "" {
		return path, true, nil
	}
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", false, fmt.Errorf("finding the folder of settings: %w", err)
	}
	return filepath.Join(dir, "ostraka", "signing", project.String()+".key"), false, nil
}

// key reads the key; nil where there is no file and none was named.
func (s *signingFlag) key(t *terminal, project uuid.UUID) (ed25519.PrivateKey, error) {
	path, named, err := s.file(t, project)
	if err != nil && !named {
		return nil, nil // without a folder of settings there is no key in it
	}
	key, err := secretfile.ReadKey(path)
	if errors.Is(err, fs.ErrNotExist) && !named {
		return nil, nil
	}
	if err != nil {
		return nil, noSigningKey(err)
	}
	return key, nil
}

// noSigningKey says what to do about a signing key that cannot be read.
func noSigningKey(err error) error {
	err = fmt.Errorf("reading the signing key: %w", err)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return &exitError{code: exitUsage, err: err, hint: "ostraka signing-key create makes one; where it is kept in another file, name that"}
}

// signingKeysOf lists the keys that the server knows of the project, the oldest first.
func signingKeysOf(ctx context.Context, c *connection) ([]client.SigningKey, []byte, error) {
	doc, err := answer.Read[client.SigningKeys](c.ListSigningKeys(ctx, c.project))
	return doc.Value.Keys, doc.Raw, explain("listing the project's signing keys", err)
}

// newestIs says whether a key is the project's newest.
func newestIs(keys []client.SigningKey, key ed25519.PrivateKey) bool {
	return len(keys) > 0 && bytes.Equal(keys[len(keys)-1].PublicKey, signing.Public(key))
}

func registerSigningKey(ctx context.Context, c *connection, link signing.Link, lost bool, bundles []client.BundleSignature) error {
	_, err := answer.Read[client.SigningKey](c.RegisterSigningKey(ctx, c.project, nil, client.NewSigningKey{
		Generation: int64(link.Generation), PublicKey: link.PublicKey, Signature: link.Signature, ReplacesLost: lost, Bundles: bundles,
	}))
	return explain("registering the signing key", err)
}

func newSigningKeyList(t *terminal, server *serverFlags) *cobra.Command {
	var output outputFlag
	cmd := &cobra.Command{
		Use: "list", Short: "List all keys that the project ever had; the last one counts", Args: arguments(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := output.check(); err != nil {
				return err
			}
			c, err := server.connectProject()
			if err != nil {
				return err
			}
			keys, raw, err := signingKeysOf(cmd.Context(), c)
			if err != nil {
				return err
			}
			if output.json() {
				return writeJSON(t.out, raw)
			}
			return printRows(t, &output, keys, nil, []string{"NUMBER", "FINGERPRINT", "SIGNED BY", "REGISTERED"}, func(k client.SigningKey) []string {
				return []string{fmt.Sprint(k.Generation), signing.Fingerprint(k.PublicKey), signerOf(c.project, keys, k), shortTime(k.CreatedAt)}
			})
		},
	}
	output.register(cmd.Flags())
	return cmd
}

// signerOf is who vouches for a key.
func signerOf(project uuid.UUID, keys []client.SigningKey, k client.SigningKey) string {
	link := signing.Link{Generation: int(k.Generation), PublicKey: k.PublicKey, Signature: k.Signature}
	before := int(k.Generation) - 2
	switch {
	case before >= 0 && before < len(keys) && link.SignedBy(keys[before].PublicKey, project):
		return fmt.Sprintf("key %d", before+1)
	case link.SignedBy(k.PublicKey, project):
		return "itself"
	default:
		return "NOBODY"
	}
}
