package agent

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/agent/secretfile"
	"github.com/ostraka/ostraka/agent/witness"
	"github.com/ostraka/ostraka/audit"
	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
	"github.com/ostraka/ostraka/runtime/signing"
	"github.com/ostraka/ostraka/runtime/statement"
)

// retryCosignature is after how long a cosignature that the server has not taken is brought again.
const retryCosignature = 5 * time.Minute

// What the server says of a cosignature that it does not keep, or of a proof that it cannot give.
var (
	errLogShorter       = codeError("log_shorter")       // than the newer of the two heads
	errNoWitnessKey     = codeError("no_witness_key")    // it was not told of the key
	errCosignatureOlder = codeError("cosignature_older") // it has a later one
)

// witnessing is what an agent needs to co-sign the heads of the server's logs.
type witnessing struct {
	store      *witness.Store
	key        ed25519.PrivateKey
	heads      chan []client.LogHead // of the last heartbeat that brought some
	registered bool
	behind     map[string]witness.Behind
	brought    map[string]delivery // of each log
}

// delivery is the newest head of a log whose cosignature was brought to the server.
type delivery struct {
	head string
	at   time.Time
	kept bool // by the server
}

// due says whether a head that is remembered is to be co-signed again: the server may not have it, and a log that rests is still one that is
// shown.
func (d delivery) due(head string, seen, now time.Time) bool {
	if d.head != head || d.kept {
		return d.head != head || now.Sub(seen) > witness.RenewAfter
	}
	return now.Sub(d.at) >= retryCosignature
}

func newWitnessing(dataDir string) (*witnessing, error) {
	w := &witnessing{store: witness.Open(dataDir), heads: make(chan []client.LogHead, 1), behind: map[string]witness.Behind{}, brought: map[string]delivery{}}
	if err := w.store.Make(); err != nil {
		return nil, err
	}
	var err error
	w.key, err = loadKey(w.store.KeyFile())
	return w, err
}

// show passes heads on to the witness; a heartbeat does not wait for that.
func (w *witnessing) show(heads []client.LogHead) {
	if len(heads) == 0 {
		return
	}
	select {
	case w.heads <- heads:
	default: // those before are still looked at, and the next heartbeat brings newer ones
	}
}

// witness co-signs the heads of the server's logs, until the context ends.
func (a *agent) witness(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case heads := <-a.witnesses.heads:
			for _, h := range heads[:min(len(heads), witness.MaxLogs)] {
				if err := a.witnessLog(ctx, h); err != nil && !over(ctx) {
					a.log.Warn("the head of a log is not co-signed", "log", logName(h), "why", err)
				}
			}
		}
	}
}

// logName is what a log is called in the agent's folder.
func logName(h client.LogHead) string {
	if h.Project == nil {
		return witness.ServerLog
	}
	return h.Project.String()
}

// witnessLog does with the head of a log what the package witness says. Nothing is signed while an alarm stands.
func (a *agent) witnessLog(ctx context.Context, h client.LogHead) error {
	w, name, server := a.witnesses, logName(h), statement.Origin(a.options.URL)
	notice, err := w.store.Notice()
	if err != nil {
		return err
	}
	if notice != nil {
		return a.explained(h, *notice)
	}
	logs, err := w.store.Logs(server)
	if err != nil {
		return err
	}
	known, seen := logs[name]
	offered, err := readHead(h, known.Key)
	if err != nil && seen {
		return a.alarm(h, known, offered, witness.Verdict{Code: witness.Replaced, Why: err.Error()})
	}
	if err != nil {
		return err
	}
	remembered, err := witness.Read(known.Note, known.Key, "")
	if !seen || err != nil { // the first one; or its owner has accepted another key with a head that nobody can read
		return a.cosign(ctx, name, known, offered)
	}
	verdict, err := a.judge(ctx, h, remembered, offered)
	if err != nil {
		return err
	}
	switch verdict.Do {
	case witness.Alarm:
		return a.alarm(h, known, offered, verdict)
	case witness.Sign:
		if remembered.Origin != offered.Origin {
			a.log.Warn("a log began anew, and has all that this agent remembers of it", "log", name, "called", offered.Origin, "reason", offered.Restart.Reason)
		}
		return a.cosign(ctx, name, known, offered)
	case witness.Same:
		if w.brought[name].due(h.Checkpoint, known.Seen, time.Now()) {
			return a.cosign(ctx, name, known, offered)
		}
	case witness.Wait:
		a.log.Debug("the head of a log is not co-signed", "log", name, "why", verdict.Why)
	}
	return nil
}

// readHead verifies a head, that it is of the project that it says, and what says that its log began anew.
func readHead(h client.LogHead, key string) (witness.Head, error) {
	offered, err := witness.Read(h.Checkpoint, h.Key, key)
	if err != nil {
		return offered, err
	}
	if log, _ := audit.Epoch(offered.Origin); h.Project != nil && log != audit.ProjectOrigin(h.Project.String()) {
		return offered, fmt.Errorf("it is of %s", offered.Origin)
	}
	restart := client.RestartProof{}
	if h.Restart != nil {
		restart = *h.Restart
	}
	return offered.ReadRestart(restart.Record, restart.Proof)
}

// explained adds to an alarm what the server says since: that the log began anew, and why. It ends no alarm; the owner does.
func (a *agent) explained(h client.LogHead, n witness.Notice) error {
	if h.Restart == nil || n.Log != logName(h) || n.Server != statement.Origin(a.options.URL) {
		return nil
	}
	offered, err := readHead(h, n.Remembered.Key)
	if err != nil || offered.Restart == nil {
		return nil //nolint:nilerr // it explains nothing: the alarm stands as it is
	}
	return a.witnesses.store.Explain(n.Server, n.Log, restartOf(h, offered))
}

func restartOf(h client.LogHead, offered witness.Head) witness.Restart {
	return witness.Restart{Restart: *offered.Restart, Record: h.Restart.Record, Proof: h.Restart.Proof, Note: h.Checkpoint, Key: h.Key}
}

// judge asks for the proof that a decision needs.
func (a *agent) judge(ctx context.Context, h client.LogHead, remembered, offered witness.Head) (witness.Verdict, error) {
	name := logName(h)
	var proof witness.Proof
	if older, newer, needed := witness.Needs(remembered, offered); needed && audit.SameLog(remembered.Key, offered.Key) {
		hashes, err := a.server.consistency(ctx, h.Project, older.Size, newer.Size)
		if over(ctx) {
			return witness.Verdict{}, err
		}
		proof = witness.Proof{Given: err == nil, Hashes: hashes}
		if err != nil {
			// Anything else may be said by what stands between here and there, or of this agent and not of the log.
			proof.Unanswered, proof.Why = !errors.Is(err, errLogShorter), err.Error()
			a.log.Warn("the server has not proven that its log grows out of what is remembered", "log", name, "why", err)
		}
	}
	now := time.Now()
	behind := a.witnesses.behind[name].Add(now, proof)
	verdict := witness.Judge(remembered, offered, proof, behind, now)
	if verdict.Do == witness.Wait {
		a.witnesses.behind[name] = behind
	} else {
		delete(a.witnesses.behind, name)
	}
	return verdict, nil
}

// alarm keeps what proves another history, and stops the work for the server.
func (a *agent) alarm(h client.LogHead, known witness.Log, offered witness.Head, v witness.Verdict) error {
	now := time.Now().UTC()
	n := witness.Notice{
		Code: v.Code, Why: v.Why, At: now, Server: statement.Origin(a.options.URL), Log: logName(h),
		Remembered: known, Shown: witness.Log{Note: h.Checkpoint, Key: h.Key, Seen: now},
	}
	if offered.Restart != nil {
		n.Restart = new(restartOf(h, offered))
	}
	a.log.Error("THE SERVER SHOWS ANOTHER HISTORY OF A LOG: this agent takes no more work from it until its owner says otherwise (ostraka agent witness show)",
		"code", v.Code, "log", n.Log, "why", v.Why)
	return a.witnesses.store.Raise(n)
}

// cosign remembers a head, on disk, before it signs it: what is signed must never be forgotten.
func (a *agent) cosign(ctx context.Context, name string, known witness.Log, h witness.Head) error {
	signed, err := audit.Cosign([]byte(h.Note), h.Key, a.id.String(), a.witnesses.key, time.Now())
	if err != nil {
		return err
	}
	kept, err := a.witnesses.store.Remember(statement.Origin(a.options.URL), name, witness.Following(known, h, time.Now().UTC()))
	if err != nil || !kept {
		return err
	}
	if !a.witnesses.registered {
		if err := a.registerWitness(ctx); err != nil {
			return err
		}
	}
	err = a.server.cosign(ctx, string(signed))
	if errors.Is(err, errNoWitnessKey) { // the server was restored from a backup: the next heartbeat tells it of the key
		a.witnesses.registered = false
		return err
	}
	kept = err == nil || errors.Is(err, errCosignatureOlder)
	a.witnesses.brought[name] = delivery{h.Note, time.Now(), kept}
	if kept {
		return nil
	}
	return err
}

func (a *agent) registerWitness(ctx context.Context) error {
	own, key := signing.Public(a.key), signing.Public(a.witnesses.key)
	err := a.server.registerWitness(ctx, client.WitnessKey{Key: key, Proof: ed25519.Sign(a.key, statement.WitnessKey(own, key))})
	if err != nil {
		return fmt.Errorf("registering the key to co-sign with: %w", err)
	}
	a.witnesses.registered = true
	return nil
}

// consistency asks for the proof that a log grows out of what it was.
func (r *remote) consistency(ctx context.Context, project *uuid.UUID, from, to int64) ([]audit.Hash, error) {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	params := &client.GetLogConsistencyParams{From: from, To: to}
	if project != nil {
		params.Project = new(project.String())
	}
	doc, err := answer.Read[client.LogConsistency](r.client.GetLogConsistency(ctx, params))
	if err != nil {
		return nil, err
	}
	hashes := make([]audit.Hash, 0, min(len(doc.Value.Hashes), audit.MaxConsistencyHashes+1))
	for _, text := range doc.Value.Hashes[:min(len(doc.Value.Hashes), audit.MaxConsistencyHashes+1)] {
		var h audit.Hash
		if b, err := base64.StdEncoding.DecodeString(text); err != nil || copy(h[:], b) != len(h) {
			h = audit.Hash{} // it proves nothing, which is what a garbled one does
		}
		hashes = append(hashes, h)
	}
	return hashes, nil
}

func (r *remote) registerWitness(ctx context.Context, k client.WitnessKey) error {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	_, err := answer.Read[struct{}](r.client.RegisterWitnessKey(ctx, k))
	return err
}

func (r *remote) cosign(ctx context.Context, checkpoint string) error {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	_, err := answer.Read[struct{}](r.client.CosignLog(ctx, nil, client.CosignedCheckpoint{Checkpoint: checkpoint}))
	return err
}

// logAlarm is why the agent takes no work, when a server has shown it another history of a log.
func logAlarm(store *witness.Store) idle {
	n, err := store.Notice()
	switch {
	case err != nil:
		return idle{witness.Forked, "whether the server has shown another history of its log cannot be read: " + err.Error()}
	case n == nil:
		return idle{}
	case n.Restart != nil:
		return idle{n.Code, fmt.Sprintf("the log %s of the server %s began anew, and lacks what this agent remembers; the reason given is %q: look at it with ostraka agent witness show, ask the operator, and go on with ostraka agent witness accept --restart", n.Log, n.Server, n.Restart.Reason)}
	default:
		return idle{n.Code, "the server " + n.Server + " shows another history of a log: " + n.Why + "; look at it with ostraka agent witness show, ask the operator, and go on with ostraka agent witness accept --reason"}
	}
}

// WitnessKey is the text with which anyone verifies what the agent of a data directory co-signs; "" before it has one, or has joined.
func WitnessKey(dataDir string) (string, error) {
	e, err := readEnrolment(filepath.Join(dataDir, enrolmentName))
	if err != nil || e.Agent == uuid.Nil {
		return "", err
	}
	key, err := secretfile.ReadKey(witness.Open(dataDir).KeyFile())
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("reading the key to co-sign with: %w", err)
	}
	return audit.Witness(e.Agent.String(), signing.Public(key))
}
