package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/agent/filelock"
	"github.com/ostraka/ostraka/client"
)

// statusEvery is how often the status file is written though nothing in it has changed but figures.
const statusEvery = 10 * time.Second

// maxStatusBytes bounds what is read of a status file.
const maxStatusBytes = 1 << 20

// Status is what an agent says of itself in its data directory, for its owner.
type Status struct {
	Running     bool        `json:"running"`
	PID         int         `json:"pid,omitempty"`
	Agent       uuid.UUID   `json:"agent"`
	Name        string      `json:"name,omitempty"`
	Server      string      `json:"server,omitempty"`
	Version     string      `json:"version,omitempty"`
	Isolation   string      `json:"isolation,omitempty"`
	StartedAt   time.Time   `json:"started_at"`
	WrittenAt   time.Time   `json:"written_at"`
	Code        string      `json:"code"` // "working", or why it is idle
	Why         string      `json:"why"`
	Since       time.Time   `json:"since"`
	Leases      int         `json:"leases"`
	Places      int         `json:"places"` // leases that it may have
	ShardsDone  int64       `json:"shards_done"`
	SpoolBytes  int64       `json:"spool_bytes"`
	Now         []Running   `json:"now"`               // what it works on
	Refused     []Refusal   `json:"refused,omitempty"` // by its owner's preferences and rules, the newest first
	Preferences string      `json:"preferences_problem,omitempty"`
	Host        client.Host `json:"host"`
}

// Running is a lease that an agent works on: what runs, and for whom.
type Running struct {
	Project  uuid.UUID `json:"project"`
	Job      uuid.UUID `json:"job"`
	Function string    `json:"function"`
	Version  int64     `json:"version"`
	Since    time.Time `json:"since"`
	Shards   int64     `json:"shards"`
	Executed int64     `json:"executed"`
}

// MaxRefusals is how many different refusals an agent tells its owner about, since it was started.
const MaxRefusals = 20

// Refusal is work that an agent did not take, and why.
type Refusal struct {
	At       time.Time `json:"at"`
	Project  uuid.UUID `json:"project"`
	Function string    `json:"function"`
	Version  int64     `json:"version"`
	Code     string    `json:"code"`
	Text     string    `json:"text"`
}

// same says whether the same was refused for the same reason.
func (r Refusal) same(other Refusal) bool {
	r.At = other.At
	return r == other
}

// same says whether both are the same lease.
func (r Running) same(other Running) bool {
	r.Executed, other.Executed = 0, 0
	return r == other
}

func statusFile(dataDir string) string { return filepath.Join(dataDir, "status.json") }

// ErrNoAgent is why nothing is known of an agent: its data directory is not there.
var ErrNoAgent = errors.New("there is no agent")

// CheckDataDir is an error where a directory is no agent's data directory: a question about it, or an order to it, would reach no agent.
func CheckDataDir(dataDir string) error {
	info, err := os.Stat(dataDir)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && !info.IsDir():
		return fmt.Errorf("%w in %s: name its directory with --data", ErrNoAgent, dataDir)
	case err != nil:
		return fmt.Errorf("looking for an agent in %s: %w", dataDir, err)
	}
	return nil
}

// ReadStatus reads what the agent of a data directory says of itself, and whether it runs.
func ReadStatus(dataDir string) (Status, error) {
	var s Status
	if err := CheckDataDir(dataDir); err != nil {
		return s, err
	}
	text, err := readAtMost(statusFile(dataDir), maxStatusBytes)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		s = Status{Code: "never_started", Why: "no agent has run here yet"}
	case err != nil:
		return s, fmt.Errorf("reading the agent's status: %w", err)
	default:
		if err := json.Unmarshal(text, &s); err != nil {
			return s, fmt.Errorf("reading the agent's status: %s is damaged: %w", statusFile(dataDir), err)
		}
	}
	s.Running, err = runs(dataDir)
	if !s.Running && s.PID != 0 {
		last := ""
		if s.Code == IdleRevoked {
			last = ": " + s.Why
		}
		s.Code, s.Why = "not_running", "the agent does not run; it was last heard of at "+s.WrittenAt.Local().Format("2006-01-02 15:04:05")+last
	}
	if s.Running && s.PID == 0 {
		s.Code, s.Why = IdleStarting, "the agent starts for the first time: its log says what it waits for"
	}
	return s, err
}

// runs says whether an agent holds the directory.
func runs(dataDir string) (bool, error) {
	path := filepath.Join(dataDir, "agent.lock")
	if _, err := os.Stat(path); err != nil {
		return false, nil //nolint:nilerr // no agent has run here, or it cannot be seen
	}
	f, err := filelock.Try(path)
	if errors.Is(err, filelock.ErrHeld) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("looking whether the agent runs: %w", err)
	}
	return false, f.Close()
}

func readAtMost(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > most {
		return nil, fmt.Errorf("%s is no file of at most %d bytes", path, most)
	}
	text := make([]byte, info.Size())
	n, err := f.ReadAt(text, 0)
	if n < len(text) {
		return nil, err
	}
	return text, nil
}

// reporting is what was last written into the status file.
type reporting struct {
	status Status
	at     time.Time
}

// tell writes the status file when something in it has changed, or from time to time.
func (a *agent) tell(last *reporting, why idle, since time.Time) {
	s := Status{
		PID: os.Getpid(), Agent: a.id, Name: a.options.Name, Server: a.options.URL, Version: a.options.Version,
		Isolation: string(a.sandbox.Level()), StartedAt: a.started, Code: textOr(why.Code, "working"), Why: why.Text, Since: since,
		Leases: a.leases.count(), ShardsDone: last.status.ShardsDone,
	}
	s.Places, _ = a.keeper.allowed()
	sample, problem := a.keeper.last()
	s.Preferences = problem
	if s.Code == "working" {
		s.Why = textOr(why.Text, "it works")
	}
	old := last.status
	old.Host, old.WrittenAt, old.SpoolBytes, old.Now, old.Refused = client.Host{}, time.Time{}, 0, nil, nil
	running, refused := a.leases.running(), a.stands.refusals()
	if reflect.DeepEqual(old, s) && slices.EqualFunc(last.status.Now, running, Running.same) && slices.Equal(last.status.Refused, refused) &&
		time.Since(last.at) < statusEvery {
		return
	}
	s.ShardsDone, s.SpoolBytes, s.Now, s.Refused = a.done.Load(), a.spool.Used(), running, refused
	if err := a.ledger.Keep(time.Now()); err != nil {
		a.log.Warn("what the agent does is not written down", "error", err)
	}
	s.Host, s.WrittenAt = *a.hostOf(sample), time.Now()
	last.status, last.at = s, time.Now()
	text, err := json.MarshalIndent(s, "", "  ")
	if err == nil {
		err = replaceFile(statusFile(a.dir.path), text)
	}
	if err != nil {
		a.log.Debug("the status cannot be written", "error", err)
	}
}
