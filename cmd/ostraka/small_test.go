package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/agent/liar"
	"github.com/ostraka/ostraka/client"
)

func jsonResponse(body string) *http.Response {
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(body))}
}

func jobRequest(p client.Partition) client.JobRequest {
	return client.JobRequest{Function: "f", Partition: p}
}

var flagName = regexp.MustCompile(`--[a-z]+`)

func TestExitCodesAreDocumented(t *testing.T) {
	help := exitCodeHelp()
	page, err := os.ReadFile("../../docs/cli.md")
	require.NoError(t, err)
	seen := map[int]bool{}
	for _, c := range exitCodes {
		require.False(t, seen[c.code], "%d stands twice", c.code)
		seen[c.code] = true
		require.Contains(t, help, fmt.Sprintf("%3d  ", c.code))
		require.Contains(t, string(page), fmt.Sprintf("\n| %d | %s |\n", c.code, flagName.ReplaceAllString(c.meaning, "`$0`")), "docs/cli.md says otherwise")
	}
	for _, status := range []int{400, 401, 403, 404, 408, 409, 412, 413, 415, 422, 428, 429, 500, 502, 503} {
		require.True(t, seen[codeOfStatus(status)], status)
	}
	require.Equal(t, exitFailed, exitCode(errors.New("anything")))
	require.Equal(t, exitOK, exitCode(nil))
}

// TestNoExamplePutsASecretIntoTheArgumentsOfSudo: everybody may read those while the command runs, and sudo logs them.
func TestNoExamplePutsASecretIntoTheArgumentsOfSudo(t *testing.T) {
	inArguments := regexp.MustCompile(`sudo [^\n|]*\bOSTRAKA_[A-Z0-9_]+=`)
	require.Regexp(t, inArguments, "$ sudo -E OSTRAKA_TOKEN=… ostraka agent install")
	require.NotRegexp(t, inArguments, "sudo --preserve-env=OSTRAKA_TOKEN,OSTRAKA_URL ostraka agent install")
	pages, err := filepath.Glob("../../docs/*.md")
	require.NoError(t, err)
	require.NotEmpty(t, pages)
	for _, page := range append(pages, "../../README.md", "../../CHANGELOG.md") {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		require.Empty(t, inArguments.FindString(string(text)), page)
	}
	helps := 0
	var look func(*cobra.Command)
	look = func(cmd *cobra.Command) {
		require.Empty(t, inArguments.FindString(cmd.Long+"\n"+cmd.Example), cmd.CommandPath())
		helps++
		for _, c := range cmd.Commands() {
			look(c)
		}
	}
	look(newRoot(quietTerminal(nil)))
	require.Greater(t, helps, 50)
}

func TestForeignTextCannotDrawOnTheTerminal(t *testing.T) {
	require.Equal(t, "a·b·c·d·é", plain("a\tb\nc\x1bd\u202eé"))
	var out strings.Builder
	table := newTable(&out, "A", "B")
	table.row("x\ny", "z")
	require.NoError(t, table.flush())
	require.Equal(t, "A    B\nx·y  z\n", out.String())

	var said strings.Builder
	(&terminal{talk: &said}).complain(&exitError{err: errors.New("no\x1b[2J\n\tsuch\u202ejob"), hint: "ask\rhim"})
	require.Equal(t, "ostraka: no·[2J\n        such·job\n  hint: ask·him\n", said.String())
}

// TestJSONCannotDrawOnTheTerminal: JSON allows C1 controls, DEL and what turns text around as they are, and a terminal obeys them.
func TestJSONCannotDrawOnTheTerminal(t *testing.T) {
	const hostile = "a\u009b2Jb\u202ec\x7fd\u2066é😀\u0085\n\x1b"
	doc := []byte(`{"name": "a` + "\u009b2Jb\u202ec\x7fd\u2066é😀\u0085" + `\n\u001b", "n": 18446744073709551617}`)
	for name, write := range map[string]func(io.Writer) error{
		"the server's": func(w io.Writer) error { return writeJSON(w, doc) },
		"ours": func(w io.Writer) error {
			return writeValue(w, map[string]any{"name": hostile, "raw": json.RawMessage(doc)})
		},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			require.NoError(t, write(&out))
			require.Equal(t, out.String(), strings.ReplaceAll(plain(strings.ReplaceAll(out.String(), "\n", "¶")), "¶", "\n"))
			require.Contains(t, out.String(), `"a\u009b2Jb\u202ec\u007fd\u2066é😀\u0085\n\u001b"`)
			require.Contains(t, out.String(), "18446744073709551617")
			var back struct{ Name string }
			require.NoError(t, json.Unmarshal([]byte(out.String()), &back))
			require.Equal(t, hostile, back.Name)
		})
	}
}

func TestCutSaysThatItCuts(t *testing.T) {
	require.Equal(t, strings.Repeat("x", maxShownInput), cut(strings.Repeat("x", maxShownInput)))
	long := strings.Repeat("x", maxShownInput-1) + "éé"
	require.Equal(t, fmt.Sprintf("%s… (%d bytes)", strings.Repeat("x", maxShownInput-1), len(long)), cut(long), "characters stay whole")
}

func TestAnswersAreShownByTheirFields(t *testing.T) {
	require.Equal(t, [][2]string{{"answer", "18446744073709551617"}}, answerFields(&client.Aggregate{Value: []byte("18446744073709551617")}))
	require.Equal(t, [][2]string{{"answer.a", "18446744073709551617"}, {"answer.b", `"x"`}},
		answerFields(&client.Aggregate{Value: []byte(`{"b":"x","a":18446744073709551617}`)}))
	require.Equal(t, [][2]string{{"answer", "{}"}}, answerFields(&client.Aggregate{Value: []byte(`{}`)}))
	require.Contains(t, answerFields(&client.Aggregate{Object: "abc"})[0][1], "ostraka object get abc")
}

func TestOutcomes(t *testing.T) {
	for state, code := range map[client.JobState]int{
		client.JobStateFinished: exitOK, client.JobStateFailed: exitFailed, client.JobStateCancelled: exitFailed, client.JobStateReview: exitFailed,
	} {
		require.Equal(t, code, exitCode(outcome(client.Job{State: state})), state)
	}
}

// Agents of `ostraka dev` get the token and no other secret of ours.
func TestAgentsGetNoKeys(t *testing.T) {
	const secret = "b1f0c7e2-of-this-test" // what else the environment has may well name secrets
	t.Setenv("OSTRAKA_KEY", secret)
	t.Setenv("OSTRAKA_S3_SECRET_KEY", secret)
	t.Setenv("AWS_SECRET_ACCESS_KEY", secret)
	t.Setenv("OSTRAKA_DATABASE_URL", "postgres://u:"+secret+"@h/d")
	env := childEnvironment("OSTRAKA_TOKEN=t")
	require.Contains(t, env, "OSTRAKA_TOKEN=t")
	require.NotContains(t, strings.Join(env, "\n"), secret)
	args := devAgent{name: "a", liar: liar.Lazy}.arguments(&devDir{path: "/d"}, devInfo{URL: "u", AgentTokens: map[string]string{"a": "t0ken"}}, devConfig{LieProbability: 0.5, LieAfter: 7})
	require.NotContains(t, args, "t0ken", "others can see command lines")
	require.Contains(t, args, "--liar")
	require.Contains(t, strings.Join(args, " "), "--liar-kind lazy --liar-probability 0.5 --liar-after 7")
}

func TestDevAgentsNames(t *testing.T) {
	require.Equal(t, []devAgent{{"agent-1", ""}, {"agent-2", ""}, {"agent-3-liar", liar.Random}}, devAgents(3, 1, nil))
	require.Equal(t, []devAgent{{"agent-1-liar", liar.Lazy}, {"agent-2-liar", liar.Replay}, {"agent-3-liar", liar.Lazy}}, devAgents(3, 3, []string{"lazy", "replay"}), "kinds take turns")
	require.Empty(t, devAgents(0, 0, nil))
}

// Two liars do not tell the same lie by themselves: together they would make a quorum of it.
func TestLiarsDoNotAgree(t *testing.T) {
	seed := func(name string, given bool, value uint64) uint64 {
		o := &agentStartOptions{lies: liar.Options{Seed: value}, seedIsGiven: given}
		o.options.Name = name
		return o.seed()
	}
	require.NotEqual(t, seed("agent-3-liar", false, 0), seed("agent-4-liar", false, 0))
	require.Equal(t, uint64(0), seed("agent-3-liar", true, 0), "unless they are told to")
}

func TestShellFileQuotes(t *testing.T) {
	text := devInfo{URL: "http://x", Project: "p", OwnerKey: `k'; rm -rf /; '`}.shell()
	require.Contains(t, text, `export OSTRAKA_KEY='k'\''; rm -rf /; '\'''`)
}

func TestLoopbackOnly(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "localhost:80", "[::1]:80", "127.8.9.1:1"} {
		require.NoError(t, loopback(address), address)
	}
	for _, address := range []string{"0.0.0.0:0", ":80", "example.org:80", "10.0.0.1:80", "127.0.0.1", "[::]:80"} {
		require.Equal(t, exitUsage, exitCode(loopback(address)), address)
	}
}

func TestQueues(t *testing.T) {
	for text, works := range map[string]bool{"all": true, "none": false, "verify,control": true} {
		c := serverConfig{Queues: strings.Split(text, ",")}
		require.NoError(t, c.chooseQueues(), text)
		require.Equal(t, works, c.worksQueues(), text)
	}
	c := serverConfig{Queues: []string{"all", "verify"}}
	require.Equal(t, exitUsage, exitCode(c.chooseQueues()))
}

func TestCounts(t *testing.T) {
	require.Equal(t, []string{"0 shards", "1 shard", "2 shards"}, []string{count(0, "shard"), count(1, "shard"), count(2, "shard")})
}

// Commands that we tell people to type work for them: as they started this one.
func TestProgramName(t *testing.T) {
	for started, name := range map[string]string{
		"ostraka": "ostraka", "bin/ostraka": "bin/ostraka", "/opt/o-1.2/ostraka": "/opt/o-1.2/ostraka",
		"./my tools/ostraka": "'./my tools/ostraka'", "o.test": "ostraka",
	} {
		require.Equal(t, name, programName(started))
	}
	d := &dev{config: devConfig{Agents: 1}, dir: &devDir{path: "/d"}}
	require.Contains(t, d.banner("bin/ostraka"), "\n    bin/ostraka function push examples/bpsw\n    bin/ostraka job run bpsw ")
	require.Contains(t, d.banner("ostraka"), " 1 agent. ")
}
