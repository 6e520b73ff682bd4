package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/agent"
	"github.com/ostraka/ostraka/agent/prefs"
	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/volume"
)

// agentVolumeOptions are the flags of `ostraka agent volume`.
type agentVolumeOptions struct {
	outputFlag
	terminal *terminal
	data     dataFlag
	projects []string
	mode     string
	maxBytes string
}

func newAgentVolume(t *terminal) *cobra.Command {
	o := &agentVolumeOptions{terminal: t}
	cmd := &cobra.Command{
		Use:   "volume [list | add NAME FOLDER | remove NAME | fingerprint FOLDER]",
		Short: "Say which folders of this machine functions may read, or write to",
		Long: `Say which folders of this machine functions may read, or write to. A function names volumes in its manifest and finds
the folder of each, read-only, in $OSTRAKA_VOLUMES; the server is told names and fingerprints, and no path.

With --mode rw functions keep files in the folder from one lease to the next, as in a cache: each project and
function in folders of its own below it, up to --max-bytes together. What else lies in the folder they do not
see. A function that keeps more is ended, and what it has kept is removed.

"add" follows links once and writes down where they lead. /, /etc, /proc, /sys, /dev, homes, folders of keys,
sockets of Docker and containerd and the agent's own folder can never be a volume, nor can what holds one of
them. "list" shows whether each can be shown now, with the fingerprint that the agent has taken last.
"fingerprint" prints that of any folder, for a function that pins it. An agent that runs takes a change within
three seconds.`,
		Example: `  ostraka agent volume add genome /data/genome
  ostraka agent volume add corpus /data/corpus --project 0190a5d4-5b7a-7c3e-8f21-6d1e0c9b8a77
  ostraka agent volume add models /data/models --mode rw --max-bytes 10Gi
  ostraka agent volume list
  ostraka agent volume remove corpus`,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), args) },
	}
	o.register(cmd.Flags())
	o.data.register(cmd.Flags())
	cmd.Flags().StringArrayVar(&o.projects, "project", nil, "with add: a project that it is for (may be repeated); left out: all that the agent works for")
	cmd.Flags().StringVar(&o.mode, "mode", string(volume.ReadOnly), "with add: ro, or rw for a folder that functions write to")
	cmd.Flags().StringVar(&o.maxBytes, "max-bytes", "", "with add --mode rw: how much functions may keep in it, all of them together, such as 10Gi")
	return cmd
}

func (o *agentVolumeOptions) run(ctx context.Context, args []string) error {
	if err := o.check(); err != nil {
		return err
	}
	dir, err := o.data.dir()
	if err != nil {
		return err
	}
	verb, rest := "list", args
	if len(args) > 0 {
		verb, rest = args[0], args[1:]
	}
	switch {
	case verb == "list" && len(rest) == 0:
		return o.list(dir)
	case verb == "add" && len(rest) == 2:
		return o.add(dir, rest[0], rest[1])
	case verb == "remove" && len(rest) == 1:
		return o.remove(dir, rest[0])
	case verb == "fingerprint" && len(rest) == 1:
		return o.fingerprint(ctx, dir, rest[0])
	default:
		return usageError("what about volumes? ostraka agent volume list, add NAME FOLDER, remove NAME or fingerprint FOLDER")
	}
}

func (o *agentVolumeOptions) add(dir, name, folder string) error {
	m := volume.Mapping{Name: name, Mode: volume.Mode(o.mode)}
	if err := o.bound(&m); err != nil {
		return err
	}
	for _, p := range o.projects {
		id, err := parseID("project", p)
		if err != nil {
			return err
		}
		m.Projects = append(m.Projects, id)
	}
	opened, err := openedVolume(dir, name, folder)
	if err != nil {
		return err
	}
	m.Path = opened.Path()
	if err := opened.Close(); err != nil {
		return fmt.Errorf("closing %s: %w", m.Path, err)
	}
	path := filepath.Join(dir, prefs.FileName)
	err = prefs.Change(path, func(content []byte) ([]byte, error) { return typed(prefs.AddVolume(content, m)) })
	if err != nil {
		return err
	}
	what := "read"
	if m.Mode == volume.ReadWrite {
		what = "write below"
	}
	o.terminal.say("functions may %s %s as volume %s; an agent that runs takes it within three seconds", what, m.Path, name)
	return nil
}

// bound reads how much functions may write.
func (o *agentVolumeOptions) bound(m *volume.Mapping) (err error) {
	if err := volume.CheckMode(m.Mode); err != nil {
		return usageError("--mode: %w", err)
	}
	switch {
	case m.Mode == volume.ReadOnly && o.maxBytes != "":
		return usageError("--max-bytes bounds what functions write: it goes with --mode rw")
	case m.Mode == volume.ReadOnly:
		return nil
	case o.maxBytes == "":
		return usageError("--mode rw needs --max-bytes: how much functions may keep in the folder, such as 10Gi")
	}
	m.MaxBytes, err = bundle.ParseBytes(o.maxBytes)
	if err != nil || m.MaxBytes < 1 || m.MaxBytes > volume.MaxWrittenBytes {
		return usageError("--max-bytes %q: write 1 to %d bytes, such as 10Gi", o.maxBytes, int64(volume.MaxWrittenBytes))
	}
	return nil
}

// openedVolume opens the folder to which a path leads, where it can be a volume.
func openedVolume(dir, name, folder string) (*volume.Folder, error) {
	if !volume.Supported {
		return nil, &exitError{code: exitFailed, err: volume.ErrUnsupported}
	}
	path, err := volume.Resolve(folder)
	if err != nil {
		return nil, usageError("%w", err)
	}
	opened, err := volume.Open(name, path, volume.NewBlocklist(dir))
	if err != nil {
		return nil, usageError("%w", err)
	}
	return opened, nil
}

func (o *agentVolumeOptions) remove(dir, name string) error {
	there := false
	err := prefs.Change(filepath.Join(dir, prefs.FileName), func(content []byte) (changed []byte, err error) {
		changed, there, err = prefs.RemoveVolume(content, name)
		if err == nil && !there {
			err = errors.New("there is no volume " + name)
		}
		return changed, err
	})
	if err != nil && !there {
		return &exitError{code: exitNotFound, err: err, hint: "ostraka agent volume list shows those that there are"}
	}
	if err != nil {
		return err
	}
	o.terminal.say("functions may not read volume %s any more; sandboxes that have it keep it until their lease ends", name)
	return nil
}

// shownVolume is a volume as it is shown.
type shownVolume struct {
	Name        string      `json:"name"`
	Path        string      `json:"path"`
	Mode        volume.Mode `json:"mode"`
	Projects    []uuid.UUID `json:"projects,omitempty"`
	Fingerprint string      `json:"fingerprint,omitempty"`
	Problem     string      `json:"problem,omitempty"`
}

func (o *agentVolumeOptions) list(dir string) error {
	path := filepath.Join(dir, prefs.FileName)
	content, err := prefs.Read(path)
	if err != nil {
		return err
	}
	p, err := prefs.Parse(content)
	if err != nil {
		return mistake(path, err)
	}
	blocked := volume.NewBlocklist(dir)
	shown := []shownVolume{}
	for _, m := range p.Volumes {
		s := shownVolume{Name: m.Name, Path: m.Path, Mode: m.Mode, Projects: m.Projects, Fingerprint: volume.Kept(agent.VolumesDir(dir), m)}
		if folder, err := volume.Open(m.Name, m.Path, blocked); err != nil {
			s.Problem = err.Error()
		} else if err := folder.Close(); err != nil {
			s.Problem = err.Error()
		}
		shown = append(shown, s)
	}
	if o.json() {
		return writeValue(o.terminal.out, shown)
	}
	return printRows(o.terminal, &o.outputFlag, shown, nil, []string{"NAME", "FOLDER", "MODE", "PROJECTS", "FINGERPRINT", "STATE"}, func(s shownVolume) []string {
		projects := make([]string, len(s.Projects))
		for i, p := range s.Projects {
			projects[i] = p.String()
		}
		return []string{s.Name, s.Path, string(s.Mode), firstOf(strings.Join(projects, ","), "all"), firstOf(s.Fingerprint, "-"), firstOf(s.Problem, "can be shown")}
	})
}

func (o *agentVolumeOptions) fingerprint(ctx context.Context, dir, folder string) error {
	opened, err := openedVolume(dir, "folder", folder)
	if err != nil {
		return err
	}
	defer func() { _ = opened.Close() }() // it was only read
	taken, _, err := opened.Fingerprint(ctx, nil)
	if err != nil {
		return err
	}
	if o.json() {
		return writeValue(o.terminal.out, map[string]string{"folder": opened.Path(), "fingerprint": taken})
	}
	o.terminal.put("%s\n", taken)
	return nil
}
