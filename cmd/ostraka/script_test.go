package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/runtime/eula"
	"github.com/ostraka/ostraka/testenv"
)

// TestScripts tells how each command is used, as a script in testdata/script, against a server as `ostraka dev` runs it. Each script has
// a project of its own and the agents that it starts, so that none sees what another one does.
func TestScripts(t *testing.T) {
	log := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	receiver := httptest.NewServer(http.HandlerFunc(receive))
	t.Cleanup(receiver.Close)
	d, err := startDev(t.Context(), devConfig{
		Dir: filepath.Join(t.TempDir(), "dev"), Listen: "127.0.0.1:0", Log: log, Terminal: systemTerminal(), Recheck: recheckConfig{Sandbox: recheckLinux, Concurrent: 1},
		Webhooks: webhookConfig{allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}},
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.stop()) })
	empty := emptyDatabase(t, d.info.DatabaseURL)
	module, err := filepath.Abs("../../wasm/builtin/aggregate.wasm")
	require.NoError(t, err)
	examples, err := filepath.Abs("../../examples")
	require.NoError(t, err)
	asc, err := filepath.Abs("../../.cache/assemblyscript/node_modules/.bin/asc") // where scripts/setup.sh puts it
	require.NoError(t, err)
	interpreter, err := pythonDir(systemTerminal()) // unpacked once for all scripts, which have no home
	require.NoError(t, err)
	goCache := os.Getenv("GOCACHE") // scripts that build a function in Go have no home
	if goCache == "" {
		user, err := os.UserCacheDir()
		require.NoError(t, err)
		goCache = filepath.Join(user, "go-build")
	}
	testscript.Run(t, testscript.Params{
		Condition: func(name string) (bool, error) {
			if name != "rebuild" {
				return false, fmt.Errorf("there is no condition %q", name)
			}
			return os.Getenv("OSTRAKA_REBUILD") != "", nil
		},
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			p, err := newScriptProject(t.Context(), d, strings.ReplaceAll(filepath.Base(e.WorkDir), "_", "-"))
			if err != nil {
				return err
			}
			e.Values[theProject{}] = p
			e.Vars = append(e.Vars,
				"OSTRAKA_URL="+d.info.URL, "OSTRAKA_PROJECT="+p.info.Project, "OSTRAKA_KEY="+p.info.OwnerKey,
				"OPERATOR_KEY="+d.info.OperatorKey, "TOKEN="+p.info.EnrolmentToken, "DATABASE_URL="+d.info.DatabaseURL,
				"EMPTY_DATABASE_URL="+empty, "OSTRAKA_ACCEPT_EULA="+eula.Embedded().Version, pythonDirVariable+"="+interpreter,
				"MODULE="+module, "RECEIVER="+receiver.URL, "EXAMPLES="+examples, "ASC="+asc, "GORACE="+quickExit, "GOCACHE="+goCache, raceRunner+"="+os.Getenv(raceRunner))
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"agents": startScriptAgents, "joined": joined, "exits": exits, "eventually": eventually, "keep": keep, "sql": sql,
		},
	})
}

// receive gets events, and wants none at /gone.
func receive(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/gone" {
		w.WriteHeader(http.StatusGone)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// emptyDatabase makes another database beside the one with that URL.
func emptyDatabase(t *testing.T, beside string) string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), beside)
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), "CREATE DATABASE empty")
	require.NoError(t, err)
	require.NoError(t, conn.Close(t.Context()))
	u, err := url.Parse(beside)
	require.NoError(t, err)
	u.Path = "/empty"
	return u.String()
}

// exits runs a program and wants it to exit with a code: exits CODE PROGRAM ARGUMENT...
func exits(ts *testscript.TestScript, neg bool, args []string) {
	want, err := strconv.Atoi(args[0])
	if neg || err != nil {
		ts.Fatalf("usage: exits CODE PROGRAM ARGUMENT...")
	}
	got := codeOf(ts.Exec(args[1], args[2:]...))
	if got != want {
		ts.Fatalf("%s: exit code %d, not %d", strings.Join(args[1:], " "), got, want)
	}
}

func codeOf(err error) int {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.ExitCode()
	default:
		return -1
	}
}

// eventually runs a program until its stdout holds a text: eventually TEXT PROGRAM ARGUMENT...
func eventually(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: eventually TEXT PROGRAM ARGUMENT...")
	}
	var err error
	if !testenv.Holds(func() bool {
		err = ts.Exec(args[1], args[2:]...)
		return err == nil && strings.Contains(ts.ReadFile("stdout"), args[0])
	}) {
		ts.Fatalf("%s: in vain waited for %q (%v)", strings.Join(args[1:], " "), args[0], err)
	}
}

// keep puts a member of the last command's JSON into the environment: keep VARIABLE MEMBER
func keep(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: keep VARIABLE MEMBER")
	}
	_, after, found := strings.Cut(ts.ReadFile("stdout"), fmt.Sprintf("%q: \"", args[1]))
	value, _, closed := strings.Cut(after, `"`)
	if !found || !closed {
		ts.Fatalf("there is no member %q", args[1])
	}
	ts.Setenv(args[0], value)
}

// sql does something to a database that no program does to it: sql URL STATEMENT
func sql(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: sql URL STATEMENT")
	}
	conn, err := pgx.Connect(context.Background(), args[0])
	ts.Check(err)
	_, err = conn.Exec(context.Background(), args[1])
	ts.Check(errors.Join(err, conn.Close(context.Background())))
}
