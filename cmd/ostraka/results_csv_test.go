package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/client"
)

// tableOf is the CSV of some lines of results, in a file.
func tableOf(t *testing.T, lines ...string) (string, error) {
	t.Helper()
	return tableOn(t, false, lines...)
}

func tableOn(t *testing.T, terminal bool, lines ...string) (string, error) {
	t.Helper()
	table, err := newResultTable()
	require.NoError(t, err)
	defer func() {
		table.close()
		require.NoFileExists(t, table.spool.Name())
	}()
	for _, line := range lines {
		var r client.ResultLine
		require.NoError(t, json.Unmarshal([]byte(line), &r))
		if err := table.add(r, []byte(line)); err != nil {
			return "", err
		}
	}
	require.FileExists(t, table.spool.Name())
	var out bytes.Buffer
	err = table.csv(&out, terminal)
	return out.String(), err
}

func TestResultsAsCSV(t *testing.T) {
	const tail = `"output_digest":"d","agent":"0190a5d4-0000-7000-8000-000000000001"}`
	for name, c := range map[string]struct{ lines, want []string }{
		"no results": {nil, []string{"shard,output_digest,agent"}},
		"a column for each key, numbers as they were written": {
			[]string{`{"shard":0,"output":{"b":1.50,"a":18446744073709551629},` + tail, `{"shard":1,"output":{"a":2,"c":[1,"x"],"b":null},` + tail},
			[]string{"shard,output.b,output.a,output.c,output_digest,agent", "0,1.50,18446744073709551629,,d,", `1,,2,"[1,""x""]",d,`},
		},
		"values that are no objects, and inputs": {
			[]string{`{"shard":0,"input":"in, put","output":7,` + tail, `{"shard":5,"input":"2","output":{"k":"a\nb"},"provisional":true,` + tail},
			[]string{"shard,input,output,output.k,output_digest,agent,provisional", `0,"in, put",7,,d,0190a5d4-0000-7000-8000-000000000001,false`, "5,2,,\"a\nb\",d,0190a5d4-0000-7000-8000-000000000001,true"},
		},
		"an output that is stored elsewhere": {[]string{`{"shard":0,` + tail}, []string{"shard,output_digest,agent", "0,d,"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := tableOf(t, c.lines...)
			require.NoError(t, err)
			for _, line := range c.want {
				require.Contains(t, got, line)
			}
			require.True(t, strings.HasPrefix(got, c.want[0]+"\n"), got)
		})
	}
	wide := func(n int) string {
		var keys []string
		for i := range n {
			keys = append(keys, fmt.Sprintf(`"k%d":1`, i))
		}
		return `{"shard":0,"output":{` + strings.Join(keys, ",") + `},` + tail
	}
	_, err := tableOf(t, wide(maxColumns))
	require.NoError(t, err)
	_, err = tableOf(t, wide(maxColumns+1))
	require.ErrorContains(t, err, "more than 1000 columns")
	require.NotErrorIs(t, err, os.ErrNotExist)
}

// TestATableCannotDrawOnTheTerminal: a stranger's texts and names are as they are in a file, and harmless on a terminal.
func TestATableCannotDrawOnTheTerminal(t *testing.T) {
	const line = `{"shard":0,"output":{"k\u001b[2J":"a\u001b[2Jb\u202e"},"output_digest":"d","agent":"0190a5d4-0000-7000-8000-000000000001"}`
	got, err := tableOn(t, true, line)
	require.NoError(t, err)
	require.Equal(t, "shard,output.k·[2J,output_digest,agent\n0,a·[2Jb·,d,0190a5d4-0000-7000-8000-000000000001\n", got)
	got, err = tableOf(t, line)
	require.NoError(t, err)
	require.Contains(t, got, "a\x1b[2Jb\u202e")
}
