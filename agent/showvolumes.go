package agent

import (
	"context"
	"errors"
	"path/filepath"
	"reflect"
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
	full    bool // what the function keeps in a volume is to go
}

// Run implements Session. A shard that keeps more in a volume than the owner allows is ended, and the lease is given back: how much that is, is no property of
// the function, so nobody votes on it.
func (s *volumeSession) Run(ctx context.Context, shard int64, input []byte) (r harness.Result, err error) {
	guarded, stop := volume.Guard(ctx, s.folders)
	r, err = s.Session.Run(guarded, shard, input)
	if over := stop(); errors.Is(over, volume.ErrFull) && ctx.Err() == nil {
		s.full = true
		s.agent.log.Warn("a function was ended: it keeps too much in a volume", "function", s.lease.Function, "project", s.lease.Project, "why", over)
		return r, refused(refusedVolume, over.Error())
	} else if over != nil {
		err = errors.Join(err, over)
	}
	return r, err
}

// Close implements Session.
func (s *volumeSession) Close() error {
	err := s.Session.Close()
	for _, f := range s.folders {
		if f.Mode != volume.ReadWrite {
			continue
		}
		written := f.Written()
		if s.full {
			err = errors.Join(err, f.Empty())
		}
		s.agent.log.Info("a function wrote to a volume", "volume", f.Name, "function", s.lease.Function, "project", s.lease.Project,
			"lease", s.lease.ID, "files", written.Files, "bytes", written.Bytes, "emptied", s.full)
		s.agent.ledger.Add(time.Now(), s.lease.Project, s.lease.Function, s.lease.Version, ledger.Work{WrittenFiles: written.Files, WrittenBytes: written.Bytes})
	}
	return errors.Join(err, volume.CloseAll(s.folders))
}
