package archive_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/runtime/archive"
	"github.com/ostraka/ostraka/runtime/canonical"
)

// shard makes a shard that three agents have executed: two agree.
func shard(n int64) archive.Shard {
	output := fmt.Sprintf(`{"n":%d}`, n)
	other, digest, agent := "0", canonical.Digest([]byte(output)), "0198-a"
	at := time.Date(2026, 11, 26, 12, 0, 0, int(n%1000)*1000, time.UTC)
	return archive.Shard{
		Shard: n, State: "accepted", Input: new(fmt.Sprint(n)), Output: &output, OutputDigest: &digest, Agent: &agent,
		Attempts: []archive.Attempt{
			{Agent: agent, Status: "ok", Agrees: true, OutputDigest: &digest, Outcome: "aa", CPUMicros: n, ReportedAt: at, Submission: "s", Signature: []byte("signed")},
			{Agent: "0198-b", Status: "ok", Agrees: true, OutputDigest: &digest, Outcome: "aa", ReportedAt: at, Submission: "t", Signature: []byte("signed too")},
			{Agent: "0198-c", Status: "ok", Output: &other, Outcome: "bb", Diagnostics: new(`{"stderr":"x"}`), ReportedAt: at},
		},
	}
}

func written(t testing.TB, shards ...archive.Shard) *bytes.Reader {
	t.Helper()
	var file bytes.Buffer
	w := archive.NewWriter(&file, "test")
	for _, s := range shards {
		require.NoError(t, w.Write(s))
	}
	require.Equal(t, int64(len(shards)), w.Rows())
	require.NoError(t, w.Close())
	return bytes.NewReader(file.Bytes())
}

func many(n int64) (all []archive.Shard) {
	for i := range n {
		s := shard(i)
		switch i % 7 {
		case 3:
			s.State, s.Output, s.OutputDigest, s.Agent, s.Reasons, s.Attempts = "failed", nil, nil, nil, new(`[{"code":"x"}]`), nil
		case 5: // an output that is an object of its own
			s.Output, s.Input = nil, nil
		}
		all = append(all, s)
	}
	return all
}

// TestWhatIsWrittenIsRead writes more than a row group, and reads it from the beginning and from the middle.
func TestWhatIsWrittenIsRead(t *testing.T) {
	t.Parallel()
	all := many(70_000)
	file := written(t, all...)
	r, err := archive.Open(file, file.Size())
	require.NoError(t, err)
	require.Equal(t, int64(len(all)), r.Rows())
	for _, after := range []int64{-1, 0, 126, 127, 128, 65_534, 65_535, 65_536, 69_998, 69_999} {
		next := after + 1
		for s, err := range r.Shards(after) {
			require.NoError(t, err)
			want := all[next]
			if want.Attempts == nil {
				want.Attempts = s.Attempts[:0]
			}
			for i := range s.Attempts {
				s.Attempts[i].ReportedAt = s.Attempts[i].ReportedAt.UTC()
				if len(s.Attempts[i].Signature) == 0 {
					s.Attempts[i].Signature = nil
				}
			}
			require.Equal(t, want, s)
			if next++; after >= 0 && next > after+300 {
				break
			}
		}
		require.GreaterOrEqual(t, next, min(after+300, int64(len(all))))
	}
	next := int64(0)
	for got, err := range r.Results(-1) {
		require.NoError(t, err)
		for all[next].State != "accepted" {
			next++
		}
		want := all[next]
		require.Equal(t, archive.Result{Shard: next, Input: want.Input, Output: want.Output, OutputDigest: *want.OutputDigest, Agent: *want.Agent}, got)
		next++
	}
	require.GreaterOrEqual(t, next, int64(len(all)-1))
}

func TestAFileWithoutRowsIsRead(t *testing.T) {
	t.Parallel()
	file := written(t)
	r, err := archive.Open(file, file.Size())
	require.NoError(t, err)
	require.Zero(t, r.Rows())
	for s, err := range r.Shards(-1) {
		require.NoError(t, err)
		t.Fatalf("there is none, and shard %d came", s.Shard)
	}
}

func TestRowsHaveNoGaps(t *testing.T) {
	t.Parallel()
	w := archive.NewWriter(&bytes.Buffer{}, "test")
	require.NoError(t, w.Write(shard(0)))
	require.ErrorContains(t, w.Write(shard(2)), "no gaps")
}

// TestADamagedFileIsAnError changes bytes of a file: reading it ends with an error or with rows, never with a panic.
func TestADamagedFileIsAnError(t *testing.T) {
	t.Parallel()
	file := written(t, many(500)...)
	whole := make([]byte, file.Size())
	_, err := file.ReadAt(whole, 0)
	require.NoError(t, err)
	damaged := 0
	for at := 0; at < len(whole); at += 211 {
		if readAll(changed(whole, at, 0x55)) != nil {
			damaged++
		}
	}
	require.Greater(t, damaged, len(whole)/211*3/4, "pages carry checksums")
	require.ErrorIs(t, readAll(whole[:len(whole)/2]), archive.ErrDamaged)
	require.ErrorIs(t, readAll(nil), archive.ErrDamaged)
}

func changed(whole []byte, at int, by byte) []byte {
	c := bytes.Clone(whole)
	c[at] ^= by
	return c
}

func readAll(file []byte) error {
	r, err := archive.Open(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return err
	}
	for _, err := range r.Shards(-1) {
		if err != nil {
			return err
		}
	}
	for _, err := range r.Results(-1) {
		if err != nil {
			return err
		}
	}
	return nil
}
