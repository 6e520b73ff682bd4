//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
	"github.com/ostraka/ostraka/examples"
)

// demoReexecuted is how many shards are executed again out of the receipt.
const demoReexecuted = 3

// demoReceipt is what came of the receipt of the job.
type demoReceipt struct {
	found   receiptReport
	changed error // with which a receipt with another answer was refused; nil: it was not
}

// receipt writes the receipt of a job, verifies it as a stranger would, and changes a digit of the answer in it, which has the number that is
// known. folder has the function of the job; "": it is one of the examples.
func (d *demo) receipt(ctx context.Context, job client.Job, folder string, known int) (r *demoReceipt, err error) {
	dir, err := os.MkdirTemp("", "ostraka-demo-")
	if err != nil {
		return nil, fmt.Errorf("making a folder for the receipt: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if folder == "" {
		if folder, err = examples.Copy(job.Function, dir); err != nil {
			return nil, err
		}
	}
	head, err := answer.Read[client.AuditHead](d.c.GetAuditCheckpoint(ctx, d.c.project))
	if err != nil {
		return nil, explain("getting the log's key", err)
	}
	if err := makeReceipt(ctx, d.t, d.c, job.ID); err != nil {
		return nil, err
	}
	var text bytes.Buffer
	if err := writeReceipt(ctx, &text, d.c, job.ID, true); err != nil {
		return nil, err
	}
	whole, other := filepath.Join(dir, "answer.receipt"), filepath.Join(dir, "changed.receipt")
	said := []byte(strconv.Itoa(known))
	changed := bytes.Replace(text.Bytes(), said, []byte(strconv.Itoa(known+1)), 1)
	if err := errors.Join(os.WriteFile(whole, text.Bytes(), 0o600), os.WriteFile(other, changed, 0o600)); err != nil {
		return nil, fmt.Errorf("writing the receipt: %w", err)
	}
	verifier := receiptVerifyOptions{
		terminal: d.t, key: head.Value.Key,
		reexecution: reexecution{amount: strconv.Itoa(demoReexecuted), folder: folder, python: d.python},
	}
	r = &demoReceipt{}
	if r.found, err = verifier.verify(ctx, whole); err != nil {
		return nil, err
	}
	_, r.changed = verifier.verify(ctx, other)
	return r, nil
}

// right says whether the receipt held, and did not when it was changed.
func (r *demoReceipt) right() bool {
	return r.found.Lines > 0 && r.found.Executed == demoReexecuted && r.changed != nil
}

func (r *demoReceipt) text() string {
	what := "IS TAKEN FOR A SOUND ONE"
	if r.changed != nil {
		what = "is refused"
	}
	return fmt.Sprintf("%s verified without the server, %d executed again; with another digit in the answer it %s", count(r.found.Lines, "shard"), r.found.Executed, what)
}
