package service_test

import (
	"context"
	"errors"
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/cmd/service"
)

var update = flag.Bool("update", false, "write the golden files")

// fakeSystem remembers what it was told to run.
type fakeSystem struct {
	booted bool
	users  map[string]bool
	ran    []string
	fail   string // the program that fails
}

func (f *fakeSystem) Booted() bool                      { return f.booted }
func (f *fakeSystem) HasUser(name string) (bool, error) { return f.users[name], nil }
func (f *fakeSystem) Run(_ context.Context, program string, arguments ...string) error {
	f.ran = append(f.ran, program+" "+strings.Join(arguments, " "))
	if program == f.fail {
		return errors.New(program + " fails")
	}
	return nil
}

// rig is a machine of its own: a folder as its root.
type rig struct {
	t      *testing.T
	root   string
	system *fakeSystem
	said   []string
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{t: t, root: t.TempDir(), system: &fakeSystem{users: map[string]bool{}}}
	require.NoError(t, os.MkdirAll(filepath.Join(r.root, "etc"), 0o755))
	require.NoError(t, os.MkdirAll(filepath.Join(r.root, "var/lib"), 0o755))
	return r
}

func (r *rig) options() service.Options {
	program := filepath.Join(r.t.TempDir(), "ostraka")
	require.NoError(r.t, os.WriteFile(program, []byte("the program"), 0o600))
	return service.Options{
		Kind: service.Agent, Root: r.root, Program: program, URL: "https://ostraka.example.org",
		Environment: []service.Variable{{Name: "OSTRAKA_URL", Value: "https://ostraka.example.org"}, {Name: "OSTRAKA_TOKEN", Value: "ostraka_enrol_secret"}},
		MemoryMax:   "8G", Arguments: []string{"--workers", "4", "--name", "a machine with 100% of $everything"},
	}
}

func (r *rig) say(s service.Step) { r.said = append(r.said, s.What+"\n"+s.Detail) }

func (r *rig) install(change ...func(*service.Options)) error {
	o := r.options()
	for _, c := range change {
		c(&o)
	}
	return service.Install(r.t.Context(), r.system, o, false, r.say)
}

func (r *rig) uninstall(change ...func(*service.Removal)) error {
	removal := service.Removal{Kind: service.Agent, Root: r.root}
	for _, c := range change {
		c(&removal)
	}
	return service.Uninstall(r.t.Context(), r.system, removal, r.say)
}

func purge(r *service.Removal) { r.Purge = true }
func force(r *service.Removal) { r.Force = true }

// tree lists all that lies below the root.
func (r *rig) tree() (all []string) {
	require.NoError(r.t, filepath.WalkDir(r.root, func(path string, _ fs.DirEntry, err error) error {
		all = append(all, strings.TrimPrefix(path, r.root))
		return err
	}))
	return all
}

func (r *rig) path(p string) string { return filepath.Join(r.root, p) }

const unitPath = "/etc/systemd/system/ostraka-agent.service"

func ofServer(o *service.Options) {
	o.Kind, o.URL, o.Config, o.Arguments = service.Server, "", service.ServerConfig, []string{"--queues", "none"}
	o.Environment = []service.Variable{{Name: "OSTRAKA_DATABASE_URL", Value: "postgres://ostraka:a$secret@db/ostraka"}, {Name: "OSTRAKA_S3_ACCESS_KEY"}}
}

// kinds are what can be installed, with how badly each may do in systemd's own test: 100 is no hardening at all, 0 is perfect. What an agent's
// unit leaves out is what sandboxes need, as it says.
var kinds = map[string]struct {
	change    func(*service.Options)
	threshold string
}{
	"ostraka-agent": {func(*service.Options) {}, "35"}, "ostraka-server": {ofServer, "20"},
}

func TestUnit(t *testing.T) {
	for name, kind := range kinds {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			require.NoError(t, r.install(kind.change))
			unit, err := os.ReadFile(r.path("/etc/systemd/system/" + name + ".service"))
			require.NoError(t, err)
			golden := "testdata/" + name + ".service"
			if *update {
				require.NoError(t, os.WriteFile(golden, unit, 0o644))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			require.Equal(t, string(want), string(unit), "go test ./cmd/service -update writes it anew; look at the difference")
			require.NotContains(t, string(unit), "secret")
		})
	}
}

// The units are what systemd understands, and are hardened as far as they can be. Where there is no systemd there is nobody who
// could say so, and nobody who would run a unit either: the golden files are all that can be compared there.
func TestSystemdUnderstandsTheUnits(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		_, err := exec.LookPath("systemctl")
		require.Error(t, err, "a machine with systemd has systemd-analyze")
		return
	}
	for name, kind := range kinds {
		r := newRig(t)
		require.NoError(t, r.install(kind.change))
		out, err := exec.CommandContext(t.Context(), analyze, "verify", "--root="+r.root, "--recursive-errors=no", r.path("/etc/systemd/system/"+name+".service")).CombinedOutput()
		for line := range strings.Lines(string(out)) {
			// The made-up root has no other units, no users and no folders of systemd.
			if strings.Contains(line, name+".service") {
				for _, wrong := range []string{"Unknown", "unknown", "Failed to parse", "ignoring", "Invalid", "not a valid"} {
					require.NotContains(t, line, wrong)
				}
			}
		}
		t.Logf("systemd-analyze verify: %v\n%s", err, out)
		out, err = exec.CommandContext(t.Context(), analyze, "security", "--offline=true", "--root="+r.root, "--threshold="+kind.threshold, name+".service").CombinedOutput()
		require.NoError(t, err, "%s", out)
		t.Logf("%s", out)
	}
}

func TestServerIsTakenBackButForItsSettings(t *testing.T) {
	r := newRig(t)
	config := r.path(service.ServerConfig)
	require.NoError(t, os.MkdirAll(filepath.Dir(config), 0o755))
	require.NoError(t, os.WriteFile(config, []byte("mine"), 0o644))
	before := r.tree()
	require.NoError(t, r.install(ofServer))
	info, err := os.Stat(r.path("/etc/ostraka/server.env"))
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o600), info.Mode().Perm(), "the secrets are for root alone")
	text, err := os.ReadFile(r.path("/etc/ostraka/server.env"))
	require.NoError(t, err)
	require.Contains(t, string(text), "\nOSTRAKA_DATABASE_URL=\"postgres://ostraka:a\\$secret@db/ostraka\"\n")
	require.NotContains(t, string(text), "S3_ACCESS", "what is not set is left out")
	require.NotContains(t, strings.Join(r.said, ""), "secret@")
	require.NoError(t, r.install(), "an agent is another service")
	require.NoError(t, r.uninstall(purge))
	require.ErrorIs(t, r.install(ofServer), service.ErrInstalled)
	require.NoError(t, r.uninstall(func(r *service.Removal) { r.Kind = service.Server }, purge))
	require.Equal(t, before, r.tree())
	require.Error(t, r.install(ofServer, func(o *service.Options) { o.Config = "server.toml" }), "a path that is not whole")
}

func TestInstallAndUninstallLeaveNothing(t *testing.T) {
	r := newRig(t)
	before := r.tree()
	require.NoError(t, r.install())
	info, err := os.Stat(r.path("/etc/ostraka-agent/agent.env"))
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o600), info.Mode().Perm(), "the token is for root alone")
	text, err := os.ReadFile(r.path("/etc/ostraka-agent/agent.env"))
	require.NoError(t, err)
	require.Contains(t, string(text), "\nOSTRAKA_TOKEN=ostraka_enrol_secret\n")
	info, err = os.Stat(r.path("/usr/local/lib/ostraka-agent/ostraka"))
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o755), info.Mode().Perm())
	for _, said := range r.said {
		require.NotContains(t, said, "ostraka_enrol_secret")
	}
	require.ErrorIs(t, r.install(), service.ErrInstalled)

	require.NoError(t, os.MkdirAll(r.path("/var/lib/ostraka-agent/bundles"), 0o700))
	require.NoError(t, r.uninstall())
	require.DirExists(t, r.path("/var/lib/ostraka-agent/bundles"), "the data stays")
	require.NoFileExists(t, r.path(unitPath))
	require.NoError(t, r.install(), "and the same agent may come back")
	require.NoError(t, r.uninstall())
	require.NoError(t, r.uninstall(purge))
	require.Equal(t, before, r.tree())
	require.ErrorIs(t, r.uninstall(purge), service.ErrNotInstalled)
	require.Empty(t, r.system.ran, "nothing is run for a machine that is only a folder")
}

func TestWhatWasChangedIsKept(t *testing.T) {
	r := newRig(t)
	before := r.tree()
	require.NoError(t, r.install())
	unit := r.path(unitPath)
	require.NoError(t, os.WriteFile(unit, []byte("mine"), 0o644))
	require.NoError(t, os.WriteFile(r.path("/etc/ostraka-agent/notes"), []byte("mine"), 0o644))
	var changed *service.ChangedError
	require.ErrorAs(t, r.uninstall(), &changed)
	require.Equal(t, []string{unit}, changed.Paths)
	require.FileExists(t, unit)
	require.NoFileExists(t, r.path("/usr/local/lib/ostraka-agent/ostraka"))
	require.ErrorAs(t, r.uninstall(), &changed, "it is still known")
	require.NoError(t, r.uninstall(force))
	require.NoFileExists(t, unit)
	require.FileExists(t, r.path("/etc/ostraka-agent/notes"), "what we did not make stays")
	require.NoError(t, os.RemoveAll(r.path("/etc/ostraka-agent")))
	require.Equal(t, before, r.tree())
}

// A link in place of a file must not lead the removal elsewhere.
func TestLinksAreNotFollowed(t *testing.T) {
	r := newRig(t)
	require.NoError(t, r.install())
	precious := r.path("/etc/precious")
	require.NoError(t, os.Rename(r.path(unitPath), precious))
	require.NoError(t, os.Symlink(precious, r.path(unitPath)))
	require.NoError(t, os.MkdirAll(r.path("/home/data"), 0o755))
	require.NoError(t, os.Symlink(r.path("/home/data"), r.path("/var/lib/ostraka-agent")))
	require.Error(t, r.uninstall(purge))
	require.FileExists(t, precious)
	require.DirExists(t, r.path("/home/data"))
}

func TestForeignFilesAreLeftAlone(t *testing.T) {
	r := newRig(t)
	require.NoError(t, os.MkdirAll(filepath.Dir(r.path(unitPath)), 0o755))
	require.NoError(t, os.WriteFile(r.path(unitPath), []byte("mine"), 0o644))
	before := r.tree()
	require.ErrorContains(t, r.install(), "move it away")
	require.Equal(t, before, r.tree())
}

func TestAnEditedManifestRemovesNothingElse(t *testing.T) {
	for _, bad := range []string{
		`{"version":1,"files":[{"path":"/etc/passwd","sha256":""}]}`, `{"version":1,"files":[{"path":"/etc/../etc/passwd","sha256":""}]}`,
		`{"version":1,"folders":["/home"]}`, `{"version":1,"user":"root"}`, `{"version":2}`, `{`,
	} {
		r := newRig(t)
		require.NoError(t, os.MkdirAll(r.path("/etc/ostraka-agent"), 0o755))
		require.NoError(t, os.WriteFile(r.path("/etc/ostraka-agent/installed.json"), []byte(bad), 0o644))
		require.Error(t, r.uninstall(force, purge), bad)
		require.Error(t, r.install(), bad)
	}
}

func TestDryRunDoesNothing(t *testing.T) {
	r := newRig(t)
	before := r.tree()
	require.NoError(t, service.Install(t.Context(), r.system, r.options(), true, r.say))
	require.Equal(t, before, r.tree())
	require.Contains(t, strings.Join(r.said, "\n"), "NoNewPrivileges=yes", "the unit is shown")
	require.NoError(t, r.install())
	installed := r.tree()
	require.NoError(t, r.uninstall(func(r *service.Removal) { r.DryRun, r.Purge = true, true }))
	require.Equal(t, installed, r.tree())
}

func TestOptionsThatCannotBeMeant(t *testing.T) {
	for name, change := range map[string]func(*service.Options){
		"root":         func(o *service.Options) { o.User = "root" },
		"a bad user":   func(o *service.Options) { o.User = "a b" },
		"no server":    func(o *service.Options) { o.URL = "" },
		"a line break": func(o *service.Options) { o.Arguments = []string{"--name", "a\nExecStartPre=/bin/evil"} },
		"in the token": func(o *service.Options) { o.Environment = []service.Variable{{Name: "OSTRAKA_TOKEN", Value: "a\nb"}} },
		"no memory":    func(o *service.Options) { o.MemoryMax = "much" },
		"no program":   func(o *service.Options) { o.Program = "/nowhere" },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			require.Error(t, r.install(change))
			require.NoFileExists(t, r.path(unitPath))
		})
	}
}
