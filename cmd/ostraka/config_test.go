//go:build linux

package main

import (
	"bytes"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the golden files")

// noKey are the flags that no file of settings has, and why.
var noKey = map[string]string{
	"config":           "it names the file",
	"project":          "of all commands; servers and agents have none",
	"key-file":         "of all commands; servers and agents have none",
	"context":          "of all commands; servers and agents have none",
	"liar":             "for demonstrations and tests",
	"liar-kind":        "for demonstrations and tests",
	"liar-probability": "for demonstrations and tests",
	"liar-after":       "for demonstrations and tests",
	"liar-seed":        "for demonstrations and tests",
}

// quietTerminal is one whose environment has these variables and nothing else.
func quietTerminal(env map[string]string) *terminal {
	return &terminal{out: io.Discard, talk: io.Discard, env: func(name string) string { return env[name] }}
}

// parsedConfig is a program's flags, as they were typed.
func parsedConfig(t *testing.T, kind configKind, args ...string) *pflag.FlagSet {
	t.Helper()
	flags, _, err := kind.parse(quietTerminal(nil), args)
	require.NoError(t, err)
	return flags
}

// writeConfig writes a file of settings.
func writeConfig(t *testing.T, content string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "settings.toml")
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	require.NoError(t, os.Chmod(path, mode))
	return path
}

func TestEveryFlagHasOneKey(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	for _, kind := range configKinds() {
		flags := parsedConfig(t, kind)
		keyOf, names := map[string]string{}, map[string]bool{}
		for _, k := range kind.keys {
			require.False(t, names[k.name], "%s stands twice", k.name)
			names[k.name] = true
			require.True(t, k.flag != "" || k.env != "" && k.about != "", "%s: nothing takes its value", k.name)
			if k.flag != "" {
				require.Empty(t, keyOf[k.flag], "--%s has two keys", k.flag)
				require.NotNil(t, flags.Lookup(k.flag), "%s: there is no --%s", k.name, k.flag)
				keyOf[k.flag] = k.name
			}
			for _, other := range k.instead {
				if name, is := strings.CutPrefix(other, "--"); is {
					require.NotNil(t, flags.Lookup(name), "%s: there is no %s", k.name, other)
				}
			}
		}
		flags.VisitAll(func(f *pflag.Flag) {
			used[f.Name] = used[f.Name] || keyOf[f.Name] == ""
			require.Equal(t, keyOf[f.Name] == "", noKey[f.Name] != "", "--%s of %s: it has a key, or a reason for having none", f.Name, kind.name)
		})
	}
	for name := range noKey {
		require.True(t, used[name], "there is no flag --%s without a key", name)
	}
}

func TestTheFlagsOfTheCommandsAreThoseWithKeys(t *testing.T) {
	t.Parallel()
	root := newRoot(quietTerminal(nil))
	for _, words := range [][]string{{"server"}, {"agent", "start"}} {
		cmd, _, err := root.Find(words)
		require.NoError(t, err)
		kind, err := findConfigKind(words[0])
		require.NoError(t, err)
		flags := parsedConfig(t, kind)
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			require.NotNil(t, flags.Lookup(f.Name), "--%s", f.Name)
		})
	}
}

func TestExamples(t *testing.T) {
	t.Parallel()
	for _, kind := range configKinds() {
		text, err := kind.example()
		require.NoError(t, err)
		golden := filepath.Join("testdata", "config", kind.name+".toml")
		if *update {
			require.NoError(t, os.WriteFile(golden, []byte(text), 0o644))
		}
		want, err := os.ReadFile(golden)
		require.NoError(t, err)
		require.Equal(t, string(want), text, "go test ./cmd/ostraka -run TestExamples -update writes it anew")
		verdict, err := checkConfig(quietTerminal(nil), writeConfig(t, text, 0o644))
		require.NoError(t, err, "what is printed is fine as it is, for everybody to read")
		require.Equal(t, kind.name, verdict.Program)
		require.Zero(t, verdict.Settings)

		all := regexp.MustCompile(`(?m)^#(\w+ = )`).ReplaceAllString(text, "$1")
		file, err := readConfig(writeConfig(t, all, 0o600), kind.keys, parsedConfig(t, kind))
		require.NoError(t, err, "each default is a value")
		require.Len(t, file.values, len(kind.keys), "and each key is there")
	}
}

func TestMistakesInAFile(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		content string
		line    int
		key     string
		says    string
	}{
		{"[limits]\n\nconections = 3\n", 3, "limits.conections", `there is no such setting; did you mean "limits.connections"?`},
		{"[limit]\nconnections = 3\n", 1, "limit", `there is no such section; did you mean "limits"?`},
		{"connections = 3\n", 1, "connections", "there is no such setting"},
		{"limits.x.y = 3\n", 1, "limits.x", "there is no such setting"},
		{"[limits]\nconnections = \"3\"\n", 2, "limits.connections", "write a whole number, and no string"},
		{"limits = {requests_per_key = 1, connections = 3.5}\n", 1, "limits.connections", "write a whole number, and no float"},
		{"[limits]\nrequests_per_key = true\n", 2, "limits.requests_per_key", "write a number, and no boolean"},
		{"[proxy]\nin_front = 1\n", 2, "proxy.in_front", "write true or false, and no integer"},
		{"[proxy]\ntrusted = \"10.0.0.0/8\"\n", 2, "proxy.trusted", `write a list such as ["a", "b"], and no string`},
		{"[proxy]\ntrusted = [1]\n", 2, "proxy.trusted", "write strings into the list, and no integer"},
		{"[server]\n# a comment\nlisten = 8470\n", 3, "server.listen", "write it between quotes: it is a string, and no integer"},
		{"[server]\nlease_ttl = \"soon\"\n", 2, "server.lease_ttl", `"soon" does not do`},
		{"[server]\nlease_ttl = 2026-11-25\n", 2, "server.lease_ttl", "and no date or time"},
		{"[server]\nlease_ttl = \"1ms\"\n", 2, "server.lease_ttl", "a lease lives a second at least"},
		{"[quotas]\nopen_job = 3\n", 2, "quotas.open_job", `did you mean "quotas.open_jobs"?`},
		{"[quotas]\nopen_jobs = \"3\"\n", 1, "quotas", "open_jobs: write a whole number, and no string"},
		{"quotas = 3\n", 1, "quotas", "write a section with a line NAME = NUMBER for each, and no integer"},
		{"[quotas]\nopen_jobs = -1\n", 1, "quotas", "cannot be -1"},
		{"[recheck]\nsandbox = \"vault\"\n", 2, "recheck.sandbox", "choose auto, docker, linux or none"},
		{"[log]\nlevel = \"loud\"\n", 2, "log.level", "choose debug, info, warn or error"},
		{"[log]\nlevel = \"info\"\nlevel = \"warn\"\n", 0, "", "it is not TOML: key level is already defined"},
		{"[log\n", 1, "", "it is not TOML"},
		{"[agent]\nworkers = \"many\"\n", 2, "agent.workers", "write a whole number"},
		{"[agent]\ndata = \"d\"\n[limits]\nmemory = \"lots\"\n", 4, "limits.memory", "--max-memory"},
		{"[agent]\nurl = \"http://ostraka.example.org\"\n", 0, "", "is plain HTTP"},
	} {
		_, err := checkConfig(quietTerminal(nil), writeConfig(t, c.content, 0o600))
		require.ErrorContains(t, err, c.says, c.content)
		require.Equal(t, exitUsage, exitCode(err), c.content)
		var wrong *configError
		require.ErrorAs(t, err, &wrong, c.content)
		require.Len(t, wrong.mistakes, 1, c.content)
		require.Equal(t, c.line, wrong.mistakes[0].Line, c.content)
		require.Equal(t, c.key, wrong.mistakes[0].Key, c.content)
	}
}

func TestAllMistakesAreSaidInTheirOrder(t *testing.T) {
	t.Parallel()
	path := writeConfig(t, "[tls]\nkee = \"k\"\n[server]\nlisten = 1\n[log]\ncolour = true\n", 0o600)
	_, err := checkConfig(quietTerminal(nil), path)
	require.Regexp(t, `^.*, line 2: tls.kee: .*\n.*, line 4: server.listen: .*\n.*, line 6: log.colour: `, err.Error())
}

func TestSecretsInAFileThatOthersCanRead(t *testing.T) {
	t.Parallel()
	secrets := 0
	for _, kind := range configKinds() {
		for _, k := range kind.keys {
			if !k.secret {
				continue
			}
			secrets++
			content := strings.Replace(k.name, k.section()+".", "["+k.section()+"]\n", 1) + " = \"s3cret\"\n"
			for _, mode := range []os.FileMode{0o640, 0o604, 0o620} {
				_, err := readConfig(writeConfig(t, content, mode), kind.keys, parsedConfig(t, kind))
				require.ErrorContains(t, err, "chmod 600 ", k.name)
				require.NotContains(t, err.Error(), "s3cret")
			}
			path := writeConfig(t, content, 0o600)
			flags := parsedConfig(t, kind)
			_, file, err := loadConfig(quietTerminal(nil), path, kind.keys, flags)
			require.NoError(t, err, k.name)
			for _, s := range file.settings(kind.keys, flags, quietTerminal(nil).env) {
				require.Equal(t, s.Key == k.name, s.Value == shownSecret, s.Key)
				require.NotContains(t, s.Value, "s3cret")
			}
		}
	}
	require.Equal(t, 5, secrets)
	kind := serverConfigKind()
	_, err := readConfig(writeConfig(t, "[server]\nlisten = \":1\"\n", 0o644), kind.keys, parsedConfig(t, kind))
	require.NoError(t, err, "what is no secret may be read by all")
}

func TestHowLongAFileOfSettingsMayBe(t *testing.T) {
	t.Parallel()
	kind := serverConfigKind()
	for length, fits := range map[int]bool{maxConfigBytes: true, maxConfigBytes + 1: false} {
		path := writeConfig(t, strings.Repeat("#", length-1)+"\n", 0o600)
		_, err := readConfig(path, kind.keys, parsedConfig(t, kind))
		require.Equal(t, fits, err == nil, err)
	}
	_, err := readConfig(filepath.Join(t.TempDir(), "none"), kind.keys, parsedConfig(t, kind))
	require.ErrorContains(t, err, "reading the file of settings")
}

func TestWhoseWordCounts(t *testing.T) {
	t.Parallel()
	const content = `
[server]
database_url = "postgres://file"
queues = ["verify", "control"]
[objects]
dir = "file"
s3_access_key = "file"
[oidc]
client_secret_file = "file"
[recheck]
docker_host = "file"
[quotas]
open_jobs = 7
results = 8
[tls]
cert = "file"
key = "file"
`
	path := writeConfig(t, content, 0o600)
	for _, c := range []struct {
		key    string
		args   []string
		env    map[string]string
		value  string
		source string
	}{
		{"server.database_url", nil, nil, shownSecret, "file, line 3"},
		{"server.database_url", nil, map[string]string{"OSTRAKA_DATABASE_URL": "e"}, shownSecret, "environment OSTRAKA_DATABASE_URL"},
		{"server.database_url", []string{"--database-url=f"}, map[string]string{"OSTRAKA_DATABASE_URL": "e"}, shownSecret, "flag --database-url"},
		{"server.queues", nil, nil, "verify, control", "file, line 4"},
		{"server.queues", []string{"--queues=all"}, nil, "all", "flag --queues"},
		{"server.listen", nil, nil, defaultListen, "default"},
		{"objects.dir", nil, nil, "file", "file, line 6"},
		{"objects.dir", []string{"--s3-endpoint=h:1"}, nil, "", "default"},
		{"objects.s3_access_key", nil, nil, shownSecret, "file, line 7"},
		{"objects.s3_access_key", nil, map[string]string{"OSTRAKA_S3_ACCESS_KEY": "e"}, shownSecret, "environment OSTRAKA_S3_ACCESS_KEY"},
		{"objects.s3_secret_key", nil, nil, "", "default"},
		{"oidc.client_secret_file", nil, nil, "file", "file, line 9"},
		{"oidc.client_secret_file", nil, map[string]string{oidcClientVariable: "e"}, "", "default"},
		{"recheck.docker_host", nil, map[string]string{"DOCKER_HOST": "e"}, "e", "environment DOCKER_HOST"},
		{"recheck.docker_host", nil, nil, "file", "file, line 11"},
		{"quotas", nil, nil, "open_jobs=7,results=8", "file, line 12"},
		{"quotas", []string{"--quota=open_jobs=9"}, nil, "open_jobs=9", "flag --quota"},
		{"tls.cert", []string{"--acme-host=a"}, nil, "", "default"},
	} {
		kind := serverConfigKind()
		flags := parsedConfig(t, kind, c.args...)
		terminal := quietTerminal(c.env)
		_, file, err := loadConfig(terminal, path, kind.keys, flags)
		require.NoError(t, err)
		for _, s := range file.settings(kind.keys, flags, terminal.env) {
			if s.Key == c.key {
				require.Equal(t, []string{c.value, c.source}, []string{s.Value, s.Source}, "%s %v %v", c.key, c.args, c.env)
			}
		}
	}
}

func TestAServerTakesItsFile(t *testing.T) {
	t.Parallel()
	path := writeConfig(t, `
[server]
database_url = "postgres://file"
listen = "127.0.0.1:1"
queues = ["verify"]
lease_ttl = "7s"
tokens_only = false
[objects]
s3_endpoint = "h:1"
s3_access_key = "a"
s3_secret_key = "b"
[recheck]
sandbox = "none"
python_dir = "p"
[limits]
requests_per_key = 3
[quotas]
open_jobs = 7
[log]
level = "debug"
format = "json"
`, 0o600)
	o := &serverOptions{terminal: quietTerminal(map[string]string{"OSTRAKA_S3_SECRET_KEY": "e"})}
	flags := pflag.NewFlagSet("server", pflag.ContinueOnError)
	o.register(flags)
	require.NoError(t, flags.Parse([]string{"--config", path, "--lease-ttl=9s"}))
	require.NoError(t, o.load(flags))
	require.Equal(t, "postgres://file", o.config.DatabaseURL)
	require.Equal(t, "127.0.0.1:1", o.listen)
	require.Equal(t, []string{"verify"}, o.config.Queues)
	require.Equal(t, "9s", o.config.LeaseTTL.String(), "a flag counts for more")
	require.False(t, o.config.TokensOnly)
	require.Equal(t, []string{"a", "e"}, []string{o.config.Objects.accessKey, o.config.Objects.secretKey}, "and so does the environment")
	require.Equal(t, "p", o.config.Recheck.Python.Dir)
	require.InDelta(t, 3, o.config.Doors.limits.PerKey.PerSecond, 0)
	require.Equal(t, int64(7), o.config.Quotas["open_jobs"])
	require.True(t, o.config.Log.Enabled(t.Context(), -4))
}

func TestAnAgentTakesItsFile(t *testing.T) {
	t.Parallel()
	path := writeConfig(t, "[agent]\nurl = \"https://file.example\"\ntoken = \"file\"\nname = \"n\"\ndata = \"d\"\nworkers = 3\n[limits]\nmemory = \"2Gi\"\n[alerts]\nthresholds = [\"samples=5\"]\n", 0o600)
	for _, c := range []struct {
		args  []string
		env   map[string]string
		url   string
		token string
	}{
		{nil, nil, "https://file.example", "file"},
		{nil, map[string]string{"OSTRAKA_URL": "https://env.example", tokenVariable: "env"}, "https://env.example", "env"},
		{[]string{"--url=https://flag.example", "--token=flag"}, map[string]string{"OSTRAKA_URL": "https://env.example"}, "https://flag.example", "flag"},
	} {
		terminal := quietTerminal(c.env)
		o := &agentStartOptions{terminal: terminal, server: &serverFlags{terminal: terminal}}
		flags := pflag.NewFlagSet("start", pflag.ContinueOnError)
		o.server.register(flags)
		o.register(flags)
		require.NoError(t, flags.Parse(append([]string{"--config", path}, c.args...)))
		require.NoError(t, o.load(flags))
		require.Equal(t, []string{c.url, c.token}, []string{o.options.URL, o.options.Token})
		require.Equal(t, 3, o.options.Workers)
		require.Equal(t, int64(2<<30), o.options.Caps.MemoryBytes)
	}
}

func TestConfigCommandsPrintJSON(t *testing.T) {
	t.Parallel()
	path := writeConfig(t, "[log]\nlevel = \"warn\"\nlevl = 1\n", 0o600)
	var out, said bytes.Buffer
	code := run(t.Context(), &terminal{out: &out, talk: &said, env: func(string) string { return "" }}, []string{"config", "check", path, "-o", "json"})
	require.Equal(t, exitUsage, code)
	require.Contains(t, out.String(), `"line": 3`)
	require.Contains(t, out.String(), `"key": "log.levl"`)
	require.Contains(t, said.String(), "did you mean")
}
