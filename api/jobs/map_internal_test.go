package jobs

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions/jobs"
)

// patched is what a page makes of an older map and an answer.
func patched(t *testing.T, old, body []byte) []byte {
	t.Helper()
	line, data, found := bytes.Cut(body, []byte{'\n'})
	require.True(t, found)
	var head MapHead
	require.NoError(t, json.Unmarshal(line, &head))
	if !head.Delta {
		require.Len(t, data, head.Bytes)
		return data
	}
	now := bytes.Clone(old)
	for len(data) > 0 {
		at, n := binary.LittleEndian.Uint32(data), binary.LittleEndian.Uint32(data[4:])
		copy(now[at:at+n], data[8:8+n])
		data = data[8+n:]
	}
	require.Len(t, now, head.Bytes)
	return now
}

func TestChangesOfAMap(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		old := make([]byte, random.IntN(200))
		now := bytes.Clone(old)
		for range random.IntN(20) {
			if len(now) > 0 {
				now[random.IntN(len(now))] = byte(random.IntN(4))
			}
		}
		a, b := &drawnMap{JobMap: jobs.JobMap{Data: old}}, &drawnMap{JobMap: jobs.JobMap{Data: now}}
		require.Equal(t, now, patched(t, old, b.body(a)))
		require.Equal(t, now, patched(t, nil, b.body(nil)))
	}
	large, one := make([]byte, 65536), make([]byte, 65536)
	one[40000] = 1
	require.Less(t, len((&drawnMap{JobMap: jobs.JobMap{Data: one}}).body(&drawnMap{JobMap: jobs.JobMap{Data: large}})), 200)
}

func TestManyWhoLookAtOneMapDrawItOnce(t *testing.T) {
	c := newMapCache()
	key := mapKey{job: uuid.New(), window: jobs.MapWindow{Mode: jobs.MapState}}
	drawn := 0
	draw := func() (jobs.JobMap, error) {
		drawn++
		return jobs.JobMap{Data: []byte{byte(drawn)}}, nil
	}
	var all sync.WaitGroup
	for range 200 {
		all.Go(func() {
			m, _, err := c.get(key, "", draw)
			if err != nil || !bytes.Equal(m.Data, []byte{1}) {
				t.Error("the map is not the one that was drawn")
			}
		})
	}
	all.Wait()
	require.Equal(t, 1, drawn)

	first, _, err := c.get(key, "", draw)
	require.NoError(t, err)
	first.at = time.Now().Add(-mapAge - time.Second)
	second, old, err := c.get(key, first.tag, draw)
	require.NoError(t, err)
	require.NotEqual(t, first.tag, second.tag)
	require.Equal(t, first, old)
	second.at = time.Now().Add(-mapAge - time.Second)
	_, _, err = c.get(key, "", func() (jobs.JobMap, error) { return jobs.JobMap{}, errors.New("away") })
	require.Error(t, err)
}

func TestKeptMapsAreBounded(t *testing.T) {
	c := newMapCache()
	for i := range 1000 {
		_, _, err := c.get(mapKey{job: uuid.New()}, "", func() (jobs.JobMap, error) {
			return jobs.JobMap{Data: bytes.Repeat([]byte{byte(i)}, 64<<10)}, nil
		})
		require.NoError(t, err)
		require.LessOrEqual(t, c.bytes, maxMapBytes+70<<10)
	}
	require.Less(t, len(c.windows), 300)
}
