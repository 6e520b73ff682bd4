package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/eula"
)

const (
	// pythonShards are the shards of each job, pythonWarm those of one before, so that agents are warm and know how much to ask for.
	pythonShards, pythonWarm = 5000, 1000
	// pythonAgents execute them: as many as Dask has workers.
	pythonAgents = 2
	// smallLease and largeLease are how much work agents borrow at a time: some 10 and some 1,000 trivial shards.
	smallLease, largeLease = 20 * time.Millisecond, 2 * time.Second
)

// systemPython is the interpreter that Debian's packages are for.
const systemPython = "/usr/bin/python3"

// doneSource is a function of nothing, of which a job adds up the shards.
const doneSource = "def handler(x):\n    return {\"done\": 1}\n"

// python measures trivial shards through real agents, beside Dask and beside small leases.
func (b *bench) python(ctx context.Context) ([]figure, error) {
	large, err := b.pythonJob(ctx, largeLease)
	if err != nil {
		return nil, err
	}
	dask, err := daskPeer(ctx)
	if err != nil {
		return nil, err
	}
	small, err := b.pythonJob(ctx, smallLease)
	if err != nil {
		return nil, err
	}
	again, err := b.pythonJob(ctx, largeLease)
	if err != nil {
		return nil, err
	}
	ours := (large.seconds + again.seconds) / 2
	say("%d trivial shards: agents %.1f s (%.1f before, %.1f after), Dask %.1f s, in small leases %.1f s", pythonShards, ours, large.seconds, again.seconds, dask, small.seconds)
	return []figure{
		{"agents_shards_per_s", pythonShards / ours},
		{"dask_ratio", dask / ours},
		{"shard_cpu_us", 1e6 * (large.cpu + again.cpu) / 2 / pythonShards},
		{"small_lease_ratio", ours / small.seconds},
	}, nil
}

// daskPeer is how many seconds Dask takes for as many tasks.
func daskPeer(ctx context.Context) (float64, error) {
	out, err := exec.CommandContext(ctx, systemPython, "bench/dask_peer.py", strconv.Itoa(pythonShards)).Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return 0, fmt.Errorf("running Dask: %w: %s", err, exit.Stderr)
	}
	if err != nil {
		return 0, fmt.Errorf("running Dask: %w", err)
	}
	return strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
}

// spent is what a job took.
type spent struct {
	seconds float64 // from submit to answer
	cpu     float64 // seconds of processor of the agents and all that they start
}

// pythonJob has real agents execute a job on a server of its own.
func (b *bench) pythonJob(ctx context.Context, lease time.Duration) (took spent, err error) {
	s, err := b.startServer(ctx)
	if err != nil {
		return took, err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	var fleet []*exec.Cmd
	defer func() { endAgents(fleet) }()
	for i := range pythonAgents {
		a, err := b.startAgent(ctx, s, i, lease)
		if err != nil {
			return took, err
		}
		fleet = append(fleet, a)
	}
	if err := s.push(ctx, b.dir, "done", doneSource); err != nil {
		return took, err
	}
	if err := s.add(ctx, pythonWarm); err != nil {
		return took, err
	}
	before, err := timeOf(fleet)
	if err != nil {
		return took, err
	}
	began := time.Now()
	if err := s.add(ctx, pythonShards); err != nil {
		return took, err
	}
	took.seconds = time.Since(began).Seconds()
	after, err := timeOf(fleet)
	took.cpu = after - before
	return took, err
}

// startAgent starts a real agent.
func (b *bench) startAgent(ctx context.Context, s *server, i int, lease time.Duration) (*exec.Cmd, error) {
	name := fmt.Sprintf("bench-%d", i)
	cmd := exec.CommandContext(ctx, b.binary, "agent", "start", "--accept-eula", eula.Embedded().Version, "--url", s.info.URL, "--data", filepath.Join(s.dir, "bench-agents", name),
		"--name", name, "--isolation", "any", "--allow-unsigned", "--lease-work", lease.String(), "--log-level", "error")
	cmd.Env = append(os.Environ(), "OSTRAKA_TOKEN="+s.info.EnrolmentToken)
	cmd.Stderr = os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = startLimit
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting an agent: %w", err)
	}
	return cmd, nil
}

// endAgents tells agents to end, and waits until they have.
func endAgents(fleet []*exec.Cmd) {
	for _, a := range fleet {
		_ = a.Process.Signal(syscall.SIGTERM)
	}
	for _, a := range fleet {
		_ = a.Wait() // which says that it was told to end
	}
}

// push makes a function of a source.
func (s *server) push(ctx context.Context, dir, name, source string) error {
	file := filepath.Join(dir, name+".py")
	if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
		return err
	}
	packed, err := bundle.Pack(file)
	if err != nil {
		return err
	}
	pushed, err := s.owner.PushFunctionWithBodyWithResponse(ctx, s.project, nil, "application/octet-stream", bytes.NewReader(packed.Archive()))
	if err != nil {
		return fmt.Errorf("pushing the function: %w", err)
	}
	if pushed.StatusCode() >= http.StatusMultipleChoices {
		return fmt.Errorf("pushing the function: %s: %s", pushed.Status(), pushed.Body)
	}
	return nil
}

// add runs a job of so many shards of the function done, and checks that each was counted once.
func (s *server) add(ctx context.Context, shards int) error {
	submitted, err := s.owner.SubmitJobWithResponse(ctx, s.project, nil, client.JobRequest{
		Function:   "done",
		Partition:  client.Partition{Kind: "range", From: "0", To: strconv.Itoa(shards), Size: "1"},
		Policy:     &client.PolicyRequest{None: true},
		Aggregator: &client.AggregatorRequest{Module: "sum"},
	})
	if err != nil {
		return fmt.Errorf("submitting the job: %w", err)
	}
	if submitted.JSON201 == nil {
		return fmt.Errorf("submitting the job: %s: %s", submitted.Status(), submitted.Body)
	}
	job, err := waitEnded(ctx, s.owner, s.project, submitted.JSON201.ID)
	if err != nil {
		return err
	}
	if want := fmt.Sprintf(`{"done":%d}`, shards); job.Aggregate == nil || string(job.Aggregate.Value) != want {
		return fmt.Errorf("the answer is not %s", want)
	}
	return nil
}

// waitEnded waits until a job has finished.
func waitEnded(ctx context.Context, owner *client.ClientWithResponses, project, id uuid.UUID) (client.Job, error) {
	for {
		job, err := getJob(ctx, owner, project, id, "30s")
		switch {
		case err != nil || job.State == "finished":
			return job, err
		case job.State == "failed" || job.State == "cancelled":
			return job, fmt.Errorf("the job %s: %s", job.State, job.Error)
		}
	}
}
