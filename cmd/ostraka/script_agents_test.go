package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/google/uuid"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ostraka/ostraka/agent"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/fleet"
	"github.com/ostraka/ostraka/testenv"
)

// theProject is the key under which the values of a script hold its project.
type theProject struct{}

// scriptProject is the project of one script, on the server that all of them share.
type scriptProject struct {
	dev  *dev
	info devInfo // with the keys of this project
	by   functions.Principal
	id   uuid.UUID
}

func newScriptProject(ctx context.Context, d *dev, name string) (*scriptProject, error) {
	p := &scriptProject{dev: d, info: d.info}
	var err error
	if p.by, err = d.server.service.Authenticate(ctx, d.info.OperatorKey); err != nil {
		return nil, fmt.Errorf("speaking as the operator: %w", err)
	}
	project, ownerKey, _, err := d.server.service.CreateProject(ctx, p.by, name, functions.Idempotency{})
	if err != nil {
		return nil, fmt.Errorf("making the project %s: %w", name, err)
	}
	p.id, p.info.Project, p.info.OwnerKey = project.ID, project.ID.String(), ownerKey
	p.info.EnrolmentToken, err = p.token(ctx, "ostraka dev", "")
	return p, err
}

// token makes an enrolment token of the project, for the machines of an owner where there is one.
func (p *scriptProject) token(ctx context.Context, name, owner string) (string, error) {
	_, token, _, err := p.dev.server.service.CreateEnrolmentToken(ctx, p.by, p.id, fleet.NewEnrolmentToken{Name: name, Owner: owner}, functions.Idempotency{})
	if err != nil {
		return "", fmt.Errorf("making a token of the project: %w", err)
	}
	return token, nil
}

// active is how many agents of the project may work and were heard of.
func (p *scriptProject) active(ctx context.Context) (n int, err error) {
	agents, err := p.dev.server.service.ListProjectAgents(ctx, p.id, functions.ListPage{Limit: functions.MaxListLimit})
	for _, a := range agents {
		if a.State == fleet.AgentActive && a.LastSeenAt != nil {
			n++
		}
	}
	return n, err
}

// startScriptAgents starts agents as `ostraka dev` does, each of another owner, and waits until they have joined. The last ones give
// nothing but wrong answers: agents COUNT [LIARS]
func startScriptAgents(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: agents COUNT [LIARS]")
	}
	count, err := strconv.Atoi(args[0])
	ts.Check(err)
	liars, err := strconv.Atoi(append(args, "0")[1])
	ts.Check(err)
	p := ts.Value(theProject{}).(*scriptProject)
	dir, config := &devDir{path: ts.MkAbs(".")}, p.dev.config
	config.PythonDir, config.LieProbability = ts.Getenv(pythonDirVariable), 1
	ctx := context.Background()
	var children []*child
	for _, a := range devAgents(count, liars, nil) {
		token, err := p.token(ctx, a.name, "the owner of "+a.name)
		ts.Check(err)
		info := p.info
		info.AgentTokens = map[string]string{a.name: token}
		children = append(children, a.child(dir, info, config))
	}
	stop := keepAll(ctx, children)
	ts.Defer(func() {
		stop()
		logs, _ := filepath.Glob(filepath.Join(dir.path, "agents", "*.log"))
		for _, path := range slices.Sorted(slices.Values(logs)) {
			text, _ := os.ReadFile(path)
			ts.Logf("%s:\n%s", filepath.Base(path), text)
		}
	})
	if !testenv.Holds(func() bool {
		n, err := p.active(ctx)
		ts.Check(err)
		return n >= count
	}) {
		ts.Fatalf("%d agents have not joined", count)
	}
}

// joined waits until the agent with that folder has joined, and puts its ID into the environment: joined VARIABLE FOLDER
func joined(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: joined VARIABLE FOLDER")
	}
	dir := ts.MkAbs(args[1])
	if !testenv.Holds(func() bool {
		status, err := agent.ReadStatus(dir)
		return err == nil && status.Agent != uuid.Nil
	}) {
		ts.Fatalf("the agent in %s has not joined", dir)
	}
	status, err := agent.ReadStatus(dir)
	ts.Check(err)
	ts.Setenv(args[0], status.Agent.String())
}
