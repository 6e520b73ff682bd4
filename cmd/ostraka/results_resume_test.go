package main

import (
	"bufio"
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions/partition"
)

const someAgent = "0190a5d4-0000-7000-8000-000000000001"

// lineOf is a result as a server sends it.
func lineOf(shard int, output string, more ...string) string {
	return fmt.Sprintf(`{"shard":%d,"output":%s,"output_digest":"d%d","agent":%q%s}`, shard, output, shard, someAgent, strings.Join(more, "")) + "\n"
}

// answerResults answers as the API does: results after a shard, and the final ones only where those are asked for.
func answerResults(w http.ResponseWriter, r *http.Request, lines ...string) {
	if !strings.HasSuffix(r.URL.Path, "/results") { // the job and its function, of whose outputs nothing is said
		fmt.Fprint(w, "{}")
		return
	}
	after, _ := strconv.Atoi(r.URL.Query().Get("after"))
	for _, line := range lines {
		var shard int
		_, _ = fmt.Sscanf(line, `{"shard":%d,`, &shard)
		if shard > after && (r.URL.Query().Get("final") != "true" || !strings.Contains(line, "provisional")) {
			fmt.Fprint(w, line)
		}
	}
}

func TestResumeGoesOnWhereAFileEnds(t *testing.T) {
	all := []string{lineOf(0, `{"a":1}`), lineOf(1, `{"a":"x\ny"}`), lineOf(2, `{"a":2}`, `,"provisional":true`), lineOf(5, `{"b":[3]}`)}
	agent := "," + someAgent + "\n"
	const heading = "shard,output.a,output.b,output_digest,agent\n"
	row0, row1, row5 := "0,1,,d0"+agent, "1,\"x\ny\",,d1"+agent, "5,,[3],d5"+agent
	for name, c := range map[string]struct{ format, file, want, refused string }{
		"nothing yet":                    {"json", "", all[0] + all[1] + all[3], ""},
		"all there":                      {"json", all[0] + all[1] + all[3], all[0] + all[1] + all[3], ""},
		"a hole, which is filled":        {"json", all[0] + all[3], all[0] + all[3] + all[1], ""},
		"a line cut off":                 {"json", all[0] + all[1][:20], all[0] + all[1] + all[3], ""},
		"a line feed cut off":            {"json", strings.TrimSuffix(all[0], "\n"), all[0] + all[1] + all[3], ""},
		"notes of somebody":              {"json", "my notes", "", "its last line is no result"},
		"more notes":                     {"json", all[0] + "my notes", "", "its last line is no result"},
		"notes in the middle":            {"json", all[0] + "notes\n" + all[1], "", "line 2 is no result"},
		"something twice":                {"json", all[0] + all[0], "", "twice"},
		"provisional":                    {"json", all[2], "", "may have been taken back"},
		"inputs":                         {"json", lineOf(0, `{"a":1}`, `,"input":1`), "", "its results have inputs"},
		"another result":                 {"json", strings.Replace(all[0], "d0", "dx", 1), "", "of another job, or was changed"},
		"a result that is none any more": {"json", lineOf(4, `1`), "", "of another job, or was changed"},
		"a shard that no job has":        {"json", lineOf(partition.MaxShards, `1`), "", "a job has at most"},

		"a table":                                  {"csv", heading + row0, heading + row0 + row1 + row5, ""},
		"a table with a row cut off in quotes":     {"csv", heading + row0 + "1,\"x\ny", heading + row0 + row1 + row5, ""},
		"a table with a row cut off between cells": {"csv", heading + row0 + "1,", heading + row0 + row1 + row5, ""},
		"a table with a row cut off at its end":    {"csv", heading + row0 + strings.TrimSuffix(row1, "\n"), heading + row0 + row1 + row5, ""},
		"a table of nothing":                       {"csv", heading, heading + row0 + row1 + row5, ""},
		"a table with inputs":                      {"csv", strings.Replace(heading, "shard,", "shard,input,", 1) + "0,i,1,,d0" + agent, "", "its results have inputs"},
		"a table with a quote in the middle":       {"csv", heading + "0,\"1\"x,,d0" + agent + row1, "", "a row is no result"},
		"a table with a short row in the middle":   {"csv", heading + "0,1\n" + row1, "", "a row is no result"},
		"a table without a heading":                {"csv", row0, "", "heading"},
		"a heading that is cut off":                {"csv", strings.TrimSuffix(heading, "\n"), "", "heading"},
		"a heading in another order":               {"csv", "shard,output.a,output,output_digest,agent\n", "", "heading"},
		"a table of another job":                   {"csv", heading + "0,1,,dx" + agent, "", "of another job, or was changed"},
		"a provisional row":                        {"csv", "shard,output.a,output_digest,agent,provisional\n0,1,d0," + someAgent + ",true\n", "", "may have been taken back"},
		"a column that the table does not have":    {"csv", "shard,output.a,output_digest,agent\n", "shard,output.a,output_digest,agent\n0,1,d0" + agent + "1,\"x\ny\",d1" + agent, "shard 5 has output.b"},
	} {
		t.Run(name, func(t *testing.T) {
			server, terminal, _ := talkTo(t, func(w http.ResponseWriter, r *http.Request) { answerResults(w, r, all...) })
			file := filepath.Join(t.TempDir(), "results")
			require.NoError(t, os.WriteFile(file, []byte(c.file), 0o600))
			o := &jobResultsOptions{terminal: terminal, format: c.format, after: -1, resume: true, file: file}
			require.NoError(t, o.check())
			err := o.run(t.Context(), server, uuid.New())
			got, readErr := os.ReadFile(file)
			require.NoError(t, readErr)
			if c.refused != "" {
				require.ErrorContains(t, err, c.refused)
				require.Equal(t, exitUsage, exitCode(err))
				if c.want == "" {
					c.want = c.file
				}
			} else {
				require.NoError(t, err)
			}
			require.Equal(t, c.want, string(got))
		})
	}
}

// TestResumeAtEveryByte cuts files off at every byte: what comes out is what a whole file has.
func TestResumeAtEveryByte(t *testing.T) {
	all := []string{lineOf(0, `{"a":"1, \"2\"\n"}`), lineOf(1, `{"b":"x"}`), lineOf(3, `{"a":7}`)}
	server, terminal, _ := talkTo(t, func(w http.ResponseWriter, r *http.Request) { answerResults(w, r, all...) })
	for _, format := range []string{"json", "csv"} {
		file := filepath.Join(t.TempDir(), "results")
		o := &jobResultsOptions{terminal: terminal, format: format, after: -1, resume: true, file: file}
		require.NoError(t, o.run(t.Context(), server, uuid.New()))
		whole, err := os.ReadFile(file)
		require.NoError(t, err)
		first := 0
		if format == "csv" {
			first = bytes.IndexByte(whole, '\n') + 1 // a table that has no heading has no columns
		}
		for n := first; n <= len(whole); n++ {
			require.NoError(t, os.WriteFile(file, whole[:n], 0o600))
			o := &jobResultsOptions{terminal: terminal, format: format, after: -1, resume: true, file: file}
			require.NoError(t, o.run(t.Context(), server, uuid.New()), "%s at %d", format, n)
			got, err := os.ReadFile(file)
			require.NoError(t, err)
			require.Equal(t, string(whole), string(got), "%s at %d", format, n)
		}
	}
}

func TestResumeFollowsNoLinks(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	require.NoError(t, os.WriteFile(target, nil, 0o600))
	require.NoError(t, os.Symlink(target, link))
	for _, bad := range []string{link, dir, os.DevNull} {
		_, err := openResults(bad)
		require.Equal(t, exitUsage, exitCode(err), bad)
	}
}

func TestResultsAreWrittenOnce(t *testing.T) {
	agent, other := uuid.New(), uuid.New()
	var out bytes.Buffer
	w := newResultsOnce(bufio.NewWriter(&out), 2)
	w.write = w.lines
	give := func(shard int64, digest string, by uuid.UUID, provisional bool) {
		require.NoError(t, w.take(resultLine(shard, digest, by, provisional), fmt.Appendf(nil, "%d%s", shard, digest)))
	}
	require.Equal(t, int64(2), w.after())
	give(3, "a", agent, true)
	give(4, "b", agent, false)
	give(4, "b", agent, false)
	require.Equal(t, int64(2), w.after(), "what is provisional may change")
	give(3, "a", agent, true)
	give(3, "c", other, true)
	give(3, "c", other, false)
	give(3, "d", other, false)
	require.Equal(t, int64(4), w.after())
	give(6, "e", agent, false)
	require.Equal(t, int64(4), w.after(), "shard 5 has none yet")
	require.Error(t, w.take(resultLine(partition.MaxShards, "f", agent, false), nil))
	require.Error(t, w.take(resultLine(-1, "f", agent, false), nil))
	require.NoError(t, w.out.Flush())
	require.Equal(t, "3a\n4b\n3c\n6e\n", out.String())
}
