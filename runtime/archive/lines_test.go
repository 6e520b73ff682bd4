package archive_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/runtime/archive"
)

// agentOf is the ID of an agent.
func agentOf(n int) string { return fmt.Sprintf("01980000-0000-7000-8000-%012d", n) }

// sentShard is a shard as it may go to another installation.
func sentShard(n int64) archive.Shard {
	s := shard(n)
	agent := agentOf(1)
	s.Agent = &agent
	for i := range s.Attempts {
		s.Attempts[i].Agent = agentOf(i)
	}
	return s
}

func readLines(text string) (all []archive.Shard, err error) {
	for s, err := range archive.ReadLines(strings.NewReader(text)) {
		if err != nil {
			return all, err
		}
		all = append(all, s)
	}
	return all, nil
}

// TestLinesAreReadAsWritten, and the file that they make is the one that they came from.
func TestLinesAreReadAsWritten(t *testing.T) {
	t.Parallel()
	all := []archive.Shard{sentShard(0), sentShard(1), sentShard(2)}
	all[1].Draw = &archive.Draw{Agent: agentOf(2), Rate: 50, Window: 1, Drawn: true}
	all[2].State, all[2].Output, all[2].OutputDigest, all[2].Agent, all[2].Attempts = "failed", nil, nil, nil, nil
	var lines bytes.Buffer
	for _, s := range all {
		require.NoError(t, archive.WriteLine(&lines, s))
	}
	got, err := readLines(lines.String())
	require.NoError(t, err)
	require.Equal(t, all, got)
	first, again := written(t, all...), written(t, got...)
	require.Equal(t, first.Size(), again.Size())
	none, err := readLines("")
	require.NoError(t, err)
	require.Empty(t, none)
}

// TestWhatALineMayBe goes to each bound, and one past it.
func TestWhatALineMayBe(t *testing.T) {
	t.Parallel()
	with := func(change func(*archive.Shard)) archive.Shard {
		s := sentShard(0)
		change(&s)
		return s
	}
	attempts := func(n int) func(*archive.Shard) {
		return func(s *archive.Shard) {
			one := s.Attempts[0]
			for s.Attempts = nil; len(s.Attempts) < n; {
				s.Attempts = append(s.Attempts, one)
			}
		}
	}
	for name, c := range map[string]struct {
		is   archive.Shard
		says string
	}{
		"as many attempts":  {with(attempts(archive.MaxLineAttempts)), ""},
		"one more":          {with(attempts(archive.MaxLineAttempts + 1)), "may have 128"},
		"a state":           {with(func(s *archive.Shard) { s.State = "won" }), "no state"},
		"no result":         {with(func(s *archive.Shard) { s.OutputDigest = nil }), "without a result"},
		"a result too many": {with(func(s *archive.Shard) { s.State = "failed" }), "is not accepted"},
		"a digest":          {with(func(s *archive.Shard) { s.OutputDigest = new(strings.Repeat("0", 64)) }), "stands beside it"},
		"no digest":         {with(func(s *archive.Shard) { s.Output, s.OutputDigest = nil, new("x") }), "no digest"},
		"no JSON":           {with(func(s *archive.Shard) { s.Input = new("{") }), "not JSON"},
		"diagnostics":       {with(func(s *archive.Shard) { s.Attempts[0].Diagnostics = new("x") }), "not JSON"},
		"a long word":       {with(func(s *archive.Shard) { s.Attempts[0].Status = strings.Repeat("x", 201) }), "too long"},
		"negative":          {with(func(s *archive.Shard) { s.Attempts[0].CPUMicros = -1 }), "cannot be"},
		"a draw":            {with(func(s *archive.Shard) { s.Draw = &archive.Draw{} }), "drawn"},
		"another number":    {with(func(s *archive.Shard) { s.Shard = 1 }), "shard 1 stands where shard 0 belongs"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var line bytes.Buffer
			require.NoError(t, archive.WriteLine(&line, c.is))
			_, err := readLines(line.String())
			if c.says == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, archive.ErrDamaged)
			require.ErrorContains(t, err, c.says)
		})
	}
	_, err := readLines(strings.Repeat(" ", archive.MaxLine+2))
	require.ErrorContains(t, err, "more than 8388608 bytes")
	_, err = readLines("{}{}\n")
	require.ErrorContains(t, err, "something follows")
}

// FuzzLines: what is read can be written as a file, whatever it was.
func FuzzLines(f *testing.F) {
	var line bytes.Buffer
	if err := archive.WriteLine(&line, sentShard(0)); err != nil {
		f.Fatal(err)
	}
	f.Add(line.Bytes())
	f.Add([]byte(`{"shard":0,"state":"failed","provisional":false,"lost":0}` + "\n"))
	f.Add([]byte("{\"shard\":0,\"state\":\"accepted\",\"output\":\"1\",\"output_digest\":\"\"}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		all, err := readLines(string(text))
		if err != nil {
			return
		}
		file := written(t, all...)
		r, err := archive.Open(file, file.Size())
		require.NoError(t, err)
		require.Equal(t, int64(len(all)), r.Rows())
	})
}
