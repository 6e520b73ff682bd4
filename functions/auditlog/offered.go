package auditlog

import (
	"context"
	"sync"
	"time"

	"github.com/google/uuid"

	auditlog "github.com/ostraka/ostraka/audit"
	"github.com/ostraka/ostraka/functions/fleet"
)

const (
	// MaxLogHeads is how many logs one heartbeat brings the heads of: the server's own, and those of the first projects whose leases it names.
	MaxLogHeads = 16
	// headAge is how old a head may be that agents are shown: many are asked to co-sign the same one, so that their cosignatures meet.
	headAge = 15 * time.Second
	// maxOfferedHeads is how many heads a process keeps for agents; of more logs it reads them anew.
	maxOfferedHeads = 4096
)

// offeredHeads are the heads that this process shows to agents: one read for all of them, and not one for each heartbeat.
type offeredHeads struct {
	mu   sync.Mutex
	kept map[uuid.UUID]offeredHead
}

type offeredHead struct {
	head fleet.LogHead // without a checkpoint: nothing is sealed
	at   time.Time     // when it was read, or somebody set out to read it again
}

// get returns a kept head. fresh says that it need not be read: a caller that is told otherwise reads it, and others continue with the old one.
func (o *offeredHeads) get(project uuid.UUID, now time.Time) (head fleet.LogHead, fresh bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	kept, known := o.kept[project]
	if known && now.Sub(kept.at) < headAge {
		return kept.head, true
	}
	if known {
		o.kept[project] = offeredHead{kept.head, now}
	}
	return kept.head, false
}

func (o *offeredHeads) put(project uuid.UUID, head fleet.LogHead, now time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, known := o.kept[project]; o.kept == nil || !known && len(o.kept) >= maxOfferedHeads {
		o.kept = map[uuid.UUID]offeredHead{}
	}
	o.kept[project] = offeredHead{head, now}
}

// LogHeads are the heads of the server's own log and of those of projects, for an agent to co-sign. One that cannot be read now is left
// out: a heartbeat does not fail by it.
func (s *Service) LogHeads(ctx context.Context, projects []uuid.UUID) []fleet.LogHead {
	heads := make([]fleet.LogHead, 0, 1+len(projects))
	for _, project := range append([]uuid.UUID{uuid.Nil}, projects[:min(len(projects), MaxLogHeads-1)]...) {
		head, fresh := s.heads.get(project, time.Now())
		if !fresh {
			var err error
			if head, err = s.readHead(ctx, project); err != nil {
				s.env.Log.WarnContext(ctx, "agents are not shown the head of a log", "project", project, "error", err)
				continue
			}
			s.heads.put(project, head, time.Now())
		}
		if head.Checkpoint != "" {
			heads = append(heads, head)
		}
	}
	return heads
}

func (s *Service) readHead(ctx context.Context, project uuid.UUID) (offered fleet.LogHead, err error) {
	head, err := s.head(ctx, project)
	if err != nil {
		return offered, err
	}
	if head.Size == 0 || !signed(head.Checkpoint, head.Key) {
		return offered, nil // the key was changed, and nothing is signed with the new one yet
	}
	offered = fleet.LogHead{Checkpoint: head.Checkpoint, Key: head.Key}
	if project != uuid.Nil {
		offered.Project = &project
	}
	restarts, err := s.restarts(ctx, project, head)
	if len(restarts) > 0 {
		newest := restarts[len(restarts)-1]
		offered.Restart = &fleet.RestartProof{Record: newest.Record, Proof: newest.Proof}
	}
	return offered, err
}

// drop has a log's head read again when it is asked for.
func (o *offeredHeads) drop(project uuid.UUID) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.kept, project)
}

// signed says whether the log's key has signed a checkpoint.
func signed(checkpoint, key string) bool {
	_, err := auditlog.Open([]byte(checkpoint), key)
	return err == nil
}
