package rig

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/migrations"
	"github.com/ostraka/ostraka/runtime/bundle"
)

// Tenant is a project with what its people hold.
type Tenant struct {
	Name     string
	ID       uuid.UUID
	Owner    *client.ClientWithResponses
	OwnerKey string

	server *Server
}

// Tenant makes a project.
func (s *Server) Tenant(ctx context.Context, name string) (*Tenant, error) {
	operator, err := s.Operator(ctx)
	if err != nil {
		return nil, err
	}
	created, err := operator.CreateProjectWithResponse(ctx, nil, client.NewProject{Name: name})
	if err != nil {
		return nil, err
	}
	if created.JSON201 == nil {
		return nil, fmt.Errorf("making the project %s: %s", name, created.Body)
	}
	t := &Tenant{Name: name, ID: created.JSON201.Project.ID, OwnerKey: created.JSON201.OwnerKey, server: s}
	t.Owner, err = Connect(s.URL, t.OwnerKey)
	return t, err
}

// Token makes a token for the machines of an owner.
func (t *Tenant) Token(ctx context.Context, owner string) (string, error) {
	token, err := t.Owner.CreateEnrolmentTokenWithResponse(ctx, t.ID, nil, client.NewEnrolmentToken{Name: owner, Owner: "the owner of " + owner})
	if err != nil {
		return "", err
	}
	if token.JSON201 == nil {
		return "", fmt.Errorf("making a token: %s", token.Body)
	}
	return token.JSON201.Secret, nil
}

// Push makes a function of the source.
func (t *Tenant) Push(ctx context.Context, name, source string) error {
	dir, err := os.MkdirTemp(t.server.rig.Dir, "function-")
	if err != nil {
		return err
	}
	file := filepath.Join(dir, name+".py")
	if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
		return err
	}
	packed, err := bundle.Pack(file)
	if err != nil {
		return err
	}
	pushed, err := t.Owner.PushFunctionWithBodyWithResponse(ctx, t.ID, nil, "application/octet-stream", bytes.NewReader(packed.Archive()))
	if err != nil {
		return err
	}
	if pushed.StatusCode() >= http.StatusMultipleChoices {
		return fmt.Errorf("pushing %s: %s", name, pushed.Body)
	}
	return nil
}

// Submit submits a job; it is an error when the server refuses it.
func (t *Tenant) Submit(ctx context.Context, r client.JobRequest) (uuid.UUID, error) {
	submitted, err := t.Owner.SubmitJobWithResponse(ctx, t.ID, nil, r)
	if err != nil {
		return uuid.Nil, err
	}
	if submitted.JSON201 == nil {
		return uuid.Nil, fmt.Errorf("submitting a job of %s: %s: %s", r.Function, submitted.Status(), submitted.Body)
	}
	return submitted.JSON201.ID, nil
}

// Range is the request for a job over the numbers below n, a shard each.
func Range(function string, n int64, policy client.PolicyRequest) client.JobRequest {
	return client.JobRequest{
		Function:  function,
		Partition: client.Partition{Kind: "range", From: "0", To: strconv.FormatInt(n, 10), Size: "1"},
		Policy:    &policy, Aggregator: &client.AggregatorRequest{Module: "sum"},
	}
}

// Job reads a job; nil: the server did not say.
func (t *Tenant) Job(ctx context.Context, id uuid.UUID, wait string) *client.Job {
	params := &client.GetJobParams{}
	if wait != "" {
		params.Wait = &wait
	}
	res, err := t.Owner.GetJobWithResponse(ctx, t.ID, id, params)
	if err != nil {
		return nil
	}
	return res.JSON200
}

// Ended says whether the job has ended.
func (t *Tenant) Ended(ctx context.Context, id uuid.UUID) bool {
	job := t.Job(ctx, id, "")
	return job != nil && (job.State == "finished" || job.State == "failed" || job.State == "cancelled")
}

// Table is the name of a table of the project in the database.
func (t *Tenant) Table(name string) string { return migrations.ProjectSchema(t.ID) + "." + name }

// At is the tenant at another server of the installation.
func (t *Tenant) At(s *Server) *Tenant {
	at := *t
	at.server = s
	owner, err := Connect(s.URL, t.OwnerKey)
	if err == nil { // a URL that has served is one
		at.Owner = owner
	}
	return &at
}
