//go:build linux

package main

import (
	"context"
	"path/filepath"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/agent/secretfile"
	"github.com/ostraka/ostraka/agent/trust"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/runtime/signing"
)

// makeSigner makes a signing key for a project that has none, and puts it into the token that the agents join with.
func (d *dev) makeSigner(ctx context.Context) error {
	project, err := uuid.Parse(d.info.Project)
	if err != nil {
		return err
	}
	owner, err := d.server.service.Authenticate(ctx, d.info.OwnerKey)
	if err != nil {
		return err
	}
	if d.signer, err = secretfile.CreateKey(filepath.Join(d.dir.path, "signing.key")); err != nil {
		return err
	}
	link := signing.First(d.signer, project, 1)
	_, _, err = d.server.service.RegisterSigningKey(ctx, owner, project, functions.NewSigningKey{
		Generation: link.Generation, PublicKey: link.PublicKey, Signature: link.Signature,
	})
	if err != nil {
		return err
	}
	d.info.EnrolmentToken = trust.Token{Secret: d.info.EnrolmentToken, Project: project, Fingerprint: signing.Fingerprint(link.PublicKey)}.String()
	return nil
}
