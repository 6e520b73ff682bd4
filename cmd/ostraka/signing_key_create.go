package main

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/agent/secretfile"
	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/runtime/signing"
)

// signingKeyOptions are the flags of `ostraka signing-key create` and `rotate`.
type signingKeyOptions struct {
	signingFlag
	terminal    *terminal
	server      *serverFlags
	replaceLost bool
}

func newSigningKeyCreate(t *terminal, server *serverFlags) *cobra.Command {
	o := &signingKeyOptions{terminal: t, server: server}
	cmd := &cobra.Command{
		Use: "create", Short: "Make the project's first key and register it",
		Long: `Make the project's first signing key in a file of this machine, and register its public half with the project.
The fingerprint is printed: tell it to those who run agents for the project. Enrolment tokens that are
created from then on carry it.

Functions that were pushed before are not signed: push them again.

--replace-lost makes a new key for a project whose key is lost. Agents that know the old one refuse the
project's work until their owners run: ostraka agent trust PROJECT FINGERPRINT`,
		Args: arguments(0),
		RunE: func(cmd *cobra.Command, _ []string) error { return o.create(cmd.Context()) },
	}
	o.register(cmd.Flags(), "file")
	cmd.Flags().BoolVar(&o.replaceLost, "replace-lost", false, "the project's key is lost; agents must be told the new one")
	return cmd
}

// known connects to the project and finds where its key is on this machine, and which keys the server knows.
func (o *signingKeyOptions) known(ctx context.Context) (c *connection, path string, keys []client.SigningKey, err error) {
	if c, err = o.server.connectProject(); err != nil {
		return nil, "", nil, err
	}
	if path, _, err = o.file(o.terminal, c.project); err != nil {
		return nil, "", nil, err
	}
	keys, _, err = signingKeysOf(ctx, c)
	return c, path, keys, err
}

func (o *signingKeyOptions) create(ctx context.Context) error {
	c, path, keys, err := o.known(ctx)
	if err != nil {
		return err
	}
	if key, err := secretfile.ReadKey(path); err == nil && newestIs(keys, key) {
		o.terminal.say("the key in %s is the project's already", path)
		return o.printFingerprint(key)
	}
	if len(keys) > 0 && !o.replaceLost {
		return &exitError{
			code: exitRefused, err: fmt.Errorf("the project has a signing key that is not the one in %s", path),
			hint: "replace it with ostraka signing-key rotate, or, if it is lost, with ostraka signing-key create --replace-lost",
		}
	}
	key, err := o.readOrMake(path)
	if err != nil {
		return err
	}
	if err := registerSigningKey(ctx, c, signing.First(key, c.project, len(keys)+1), o.replaceLost, nil); err != nil {
		return err
	}
	o.terminal.say("the private key is in %s; keep a copy of it where nobody else gets at it", path)
	o.terminal.say("functions that were pushed before are not signed: push them again")
	return o.printFingerprint(key)
}

// readOrMake reads the key that an earlier try has made, or makes one.
func (o *signingKeyOptions) readOrMake(path string) (ed25519.PrivateKey, error) {
	key, err := secretfile.ReadKey(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(filepath.Dir(path), 0o700); err == nil {
			key, err = secretfile.CreateKey(path)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("making the signing key: %w", err)
	}
	return key, nil
}

// printFingerprint prints the name by which people compare keys.
func (o *signingKeyOptions) printFingerprint(key ed25519.PrivateKey) error {
	o.terminal.say("fingerprint:")
	_, err := fmt.Fprintln(o.terminal.out, signing.Fingerprint(signing.Public(key)))
	return err
}
