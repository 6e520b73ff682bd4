package agent

import (
	"context"
	"errors"
	"path/filepath"
	"reflect"
	"sync"
	"time"

	"github.com/ostraka/ostraka/agent/isolation"
	"github.com/ostraka/ostraka/agent/ledger"
	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/harness"
	"github.com/ostraka/ostraka/runtime/volume"
)

// volumesName is the folder, in the agent's data directory, of what is known of volumes.
const volumesName = "volumes"

// VolumesDir is where the agent of a data directory keeps what it knows of volumes.
func VolumesDir(data string) string { return filepath.Join(data, volumesName) }

// lookAtVolumes is how often the agent looks whether its volumes are as they were.
const lookAtVolumes = 10 * time.Minute

// keepVolumes looks at the volumes from time to time, and as soon as the owner changes them.
func (a *agent) keepVolumes(ctx context.Context) {
	tick := time.NewTicker(lookAtVolumes)
	defer tick.Stop()
	for {
		_, changed := a.keeper.allowed()
		list := a.keeper.current().Volumes
		a.volumes.Look(ctx, list, a.hurry)
		for same := true; same; same = same && reflect.DeepEqual(list, a.keeper.current().Volumes) {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				same = false
			case <-changed:
				_, changed = a.keeper.allowed()
			}
		}
	}
}

// offeredVolumes are what the server is told of the volumes.
func (a *agent) offeredVolumes() (list []client.AgentVolume) {
	for _, o := range a.volumes.Offers() {
		list = append(list, client.AgentVolume{Name: o.Name, Mode: client.AgentVolumeMode(o.Mode), Fingerprint: o.Fingerprint, Projects: o.Projects})
	}
	return list
}

// lendVolumes opens the folders that a function wants, in the order in which it names them. The caller closes them.
func (w *worker) lendVolumes(ctx context.Context, lease *client.Lease, b *bundle.Bundle) (folders []*volume.Folder, err error) {
	p := w.keeper.current()
	for _, wanted := range b.Manifest.Volumes {
		var folder *volume.Folder
		m, err := p.VolumeFor(wanted.Name, lease.Project, b.Manifest.Name, b.Digest)
		if err == nil {
			folder, err = w.volumes.Lend(ctx, m, volume.Borrower{Project: lease.Project, Function: b.Manifest.Name}, wanted.Mode, wanted.Fingerprint)
		} else {
			err = &volume.Refusal{Text: "volume " + wanted.Name + ": " + err.Error()}
		}
		if err != nil {
			return nil, errors.Join(w.refusedVolume(lease, err), volume.CloseAll(folders))
		}
		folders = append(folders, folder)
	}
	return folders, nil
}

func (w *worker) refusedVolume(lease *client.Lease, err error) error {
	var r *volume.Refusal
	if !errors.As(err, &r) {
		return err
	}
	if r.Why != nil {
		w.log.Warn("a function does not get a volume", "function", lease.Function, "project", lease.Project, "why", r.Why)
	}
	return refused(refusedVolume, r.Text)
}

// volumeSession is a session with volumes. It does not rest: the owner may change what functions get before the next lease.
type volumeSession struct {
	isolation.Session
	agent   *agent
	lease   *client.Lease
	folders []*volume.Folder
	guarded context.Context // ends when the function is at fault
	unguard func() error
	unhook  func() bool

	mu     sync.Mutex // while a shard runs, and while the sandbox is closed
	closed bool
	err    error // of closing it
	told   bool  // a shard has failed by what was found
}

// openGuarded opens a sandbox that has volumes, and looks after these from before the function is imported until the sandbox is gone. It closes them where
// it fails.
func (a *agent) openGuarded(
	ctx context.Context, l *client.Lease, folders []*volume.Folder, open func(context.Context) (isolation.Session, func(), error),
) (isolation.Session, func(), error) {
	if len(folders) == 0 {
		return open(ctx)
	}
	guarded, stop := volume.Guard(context.WithoutCancel(ctx), folders)
	opening, cancel := both(ctx, guarded)
	defer cancel(nil)
	session, leave, err := open(opening)
	if err != nil {
		if found := stop(); found != nil && !over(ctx) {
			err = errors.Join(a.overfull(l, found), err)
		}
		return nil, nil, errors.Join(err, volume.CloseAll(folders))
	}
	return newVolumeSession(guarded, session, a, l, folders, stop), leave, nil
}

func newVolumeSession(
	guarded context.Context, inner isolation.Session, a *agent, l *client.Lease, folders []*volume.Folder, stop func() error,
) *volumeSession {
	s := &volumeSession{Session: inner, agent: a, lease: l, folders: folders, guarded: guarded, unguard: stop}
	s.unhook = context.AfterFunc(guarded, s.end) // also between two shards
	return s
}

// overfull says what is wrong with a volume. A lease that ends for its bounds is given back: how much that is, is no property of the function, so nobody
// votes on it.
func (a *agent) overfull(lease *client.Lease, over error) error {
	if !errors.Is(over, volume.ErrFull) && !errors.Is(over, volume.ErrDiskFull) {
		return over
	}
	a.log.Warn("a function was ended: a volume is too full", "function", lease.Function, "project", lease.Project, "why", over)
	return refused(refusedVolume, over.Error())
}

// Run implements Session. A shard that keeps more in a volume than the owner allows is ended.
func (s *volumeSession) Run(ctx context.Context, shard int64, input []byte) (r harness.Result, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	running, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(s.guarded, func() { cancel(context.Cause(s.guarded)) })()
	found := context.Cause(s.guarded)
	if found == nil {
		r, err = s.Session.Run(running, shard, input)
		if found = context.Cause(s.guarded); found == nil {
			found = volume.LookAt(s.folders)
		}
	}
	if found == nil || over(ctx) {
		return r, err
	}
	s.told = true
	return r, errors.Join(s.agent.overfull(s.lease, found), err)
}

// end closes the sandbox once the shard that runs, if one does, has come back.
func (s *volumeSession) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.closed, s.err = true, s.Session.Close()
	}
}

// Close implements Session.
func (s *volumeSession) Close() error {
	s.unhook()
	s.end()
	err := s.err
	if found := s.unguard(); found != nil && !s.told {
		err = errors.Join(s.agent.overfull(s.lease, found), err)
	}
	for _, f := range s.folders {
		written := f.Written()
		if err = errors.Join(err, f.Close()); f.Mode != volume.ReadWrite {
			continue
		}
		s.agent.log.Info("a function wrote to a volume", "volume", f.Name, "function", s.lease.Function, "project", s.lease.Project,
			"lease", s.lease.ID, "files", written.Files, "bytes", written.Bytes, "emptied", f.Full())
		s.agent.ledger.Add(time.Now(), s.lease.Project, s.lease.Function, s.lease.Version, ledger.Work{WrittenFiles: written.Files, WrittenBytes: written.Bytes})
	}
	return err
}
