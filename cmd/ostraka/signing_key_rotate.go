package main

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"

	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/agent/secretfile"
	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/runtime/signing"
)

// signAtOnce is how many signatures one request carries, as the server has it.
const signAtOnce = 1000

func newSigningKeyRotate(t *terminal, server *serverFlags) *cobra.Command {
	o := &signingKeyOptions{terminal: t, server: server}
	cmd := &cobra.Command{
		Use: "rotate", Short: "Replace the project's key by a new one that it vouches for",
		Long: `Replace the project's signing key by a new one. The old key signs the new one, so that agents follow by
themselves, and the new key signs everything that the old one has signed. The new key takes the old
one's place in the file; the old one is kept beside it as FILE.old.`,
		Args: arguments(0),
		RunE: func(cmd *cobra.Command, _ []string) error { return o.rotate(cmd.Context()) },
	}
	o.register(cmd.Flags(), "file")
	return cmd
}

// rotate may be broken off anywhere and run again: the new key lies in FILE.new until the server knows it and it takes its place.
func (o *signingKeyOptions) rotate(ctx context.Context) error {
	c, path, keys, err := o.known(ctx)
	if err != nil {
		return err
	}
	old, err := secretfile.ReadKey(path)
	if err != nil {
		return noSigningKey(err)
	}
	next, err := o.readOrMake(path + ".new")
	if err != nil {
		return err
	}
	generation := len(keys) + 1
	if newestIs(keys, next) {
		generation-- // an earlier try has got this far
	} else if !newestIs(keys, old) {
		return o.notTheNewest(path)
	}
	signed, err := signedBy(ctx, c, old)
	if err != nil {
		return err
	}
	if err := o.hand(ctx, c, signing.Next(old, c.project, generation, signing.Public(next)), next, signed); err != nil {
		return err
	}
	if err := takePlace(path); err != nil {
		return err
	}
	o.terminal.say("%s signed again; the new key is in %s, the old one in %s.old", count(int64(len(signed)), "function version"), path, path)
	return o.printFingerprint(next)
}

func (o *signingKeyOptions) notTheNewest(path string) error {
	if err := os.Remove(path + ".new"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing the new key again: %w", err)
	}
	return &exitError{
		code: exitRefused, err: fmt.Errorf("the key in %s is not the project's newest signing key", path),
		hint: "see ostraka signing-key list; name the right file with --file, or make the first key with ostraka signing-key create",
	}
}

// signedBy lists the function versions that a key has really signed: what the server only claims is not signed again.
func signedBy(ctx context.Context, c *connection, key ed25519.PrivateKey) ([]client.FunctionVersion, error) {
	names, _, _, err := gather[client.FunctionVersion](0, func(cursor *string, size *int64) (*http.Response, error) {
		return c.ListFunctions(ctx, c.project, &client.ListFunctionsParams{Cursor: cursor, Limit: size})
	})
	if err != nil {
		return nil, explain("listing functions", err)
	}
	var signed []client.FunctionVersion
	for _, f := range names {
		versions, _, _, err := gather[client.FunctionVersion](0, func(cursor *string, size *int64) (*http.Response, error) {
			return c.ListFunctionVersions(ctx, c.project, f.Name, &client.ListFunctionVersionsParams{Cursor: cursor, Limit: size})
		})
		if err != nil {
			return nil, explain("listing the versions of "+f.Name, err)
		}
		for _, v := range versions {
			if signing.VerifyBundle(signing.Public(key), c.project, v.Name, v.Digest, v.Signature) {
				signed = append(signed, v)
			}
		}
	}
	return signed, nil
}

// hand registers the new key with its signatures, in as many requests as they need.
func (o *signingKeyOptions) hand(ctx context.Context, c *connection, link signing.Link, key ed25519.PrivateKey, versions []client.FunctionVersion) error {
	for first := true; first || len(versions) > 0; first = false {
		n := min(len(versions), signAtOnce)
		bundles := make([]client.BundleSignature, n)
		for i, v := range versions[:n] {
			bundles[i] = client.BundleSignature{Function: v.Name, Digest: v.Digest, Signature: signing.SignBundle(key, c.project, v.Name, v.Digest)}
		}
		if err := registerSigningKey(ctx, c, link, false, bundles); err != nil {
			return err
		}
		versions = versions[n:]
	}
	return nil
}

// takePlace puts FILE.new where FILE is, and keeps that as FILE.old.
func takePlace(path string) error {
	err := os.Rename(path, path+".old")
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	if err != nil {
		return fmt.Errorf("the new key is registered, and the files could not be put in place: %w; move %s.new to %s", err, path, path)
	}
	return nil
}
