package jobs

import (
	"context"
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/jobs/sql"
	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/functions/store"
)

// What a map of a job shows.
const (
	MapPages    = "pages"    // a record for each page, of MapPageBytes
	MapState    = "state"    // a byte for each shard: its state
	MapDuration = "duration" // a byte for each shard: how long the accepted attempt took
	MapAgent    = "agent"    // a byte for each shard: whose output was accepted
	MapAge      = "age"      // a byte for each shard: for how long an attempt is out
)

const (
	// MaxMapPages is how many pages a map of shards covers: one byte for each of 65,536 shards, which are read in some tens of milliseconds.
	MaxMapPages = 64
	// MaxMapRecords is how many pages a map of pages covers: all of the largest job.
	MaxMapRecords = 10_000
	// MapPageBytes is the size of a page's record: MapPageFields numbers of 16 bits, the low byte first.
	MapPageBytes = 2 * MapPageFields
	// MapPageFields are: open, provisional, accepted and final, review, failed, cancelled, attempts that are out, and 1 where results were
	// taken back.
	MapPageFields = 8
	// maxMapAgents is how many agents a map tells apart; 255 are all others.
	maxMapAgents = 254
)

// MapWindow is a part of a job that a map shows.
type MapWindow struct {
	Mode string
	From int64 // the first page
	To   int64 // the page after the last; 0: as far as a map reaches
}

// JobMap is a picture of a job.
type JobMap struct {
	MapWindow
	Shards int64       // of the job
	Pages  int64       // of the job
	Agents []uuid.UUID // of the mode agent: number n is agent n-1
	Data   []byte
}

// Cut makes the window one that the job has and a map can show.
func (w MapWindow) cut(pages int64) MapWindow {
	reach := int64(MaxMapPages)
	if w.Mode == MapPages {
		reach = MaxMapRecords
	}
	w.From = min(max(w.From, 0), pages)
	if w.To <= 0 || w.To > pages {
		w.To = pages
	}
	w.To = max(min(w.To, w.From+reach), w.From)
	return w
}

// Map draws a map of a part of a job.
func (s *Service) Map(ctx context.Context, project, job uuid.UUID, window MapWindow) (m JobMap, err error) {
	err = s.env.Project(ctx, project, func(tx *store.Tx) error {
		type size struct{ ShardsTotal, PagesTotal int64 }
		has, found, err := store.One[size](ctx, tx, sql.GetJobSize, job)
		if err != nil || !found {
			return base.OrNotFound(err, "job", job)
		}
		if err := base.NotArchived(ctx, tx, job); err != nil {
			return err
		}
		m = JobMap{MapWindow: window.cut(has.PagesTotal), Shards: has.ShardsTotal, Pages: has.PagesTotal}
		if m.Mode == MapPages {
			m.Data, err = mapPages(ctx, tx, job, m.MapWindow)
			return err
		}
		first, end := m.From*partition.PageSize, min(m.To*partition.PageSize, m.Shards)
		m.Data = make([]byte, max(end-first, 0))
		args := []any{job, first, end, int64(partition.PageSize)}
		switch m.Mode {
		case MapDuration:
			return fillMap(ctx, tx, &m, sql.MapDurations, args, durationCode)
		case MapAge:
			return fillMap(ctx, tx, &m, sql.MapAges, args, durationCode)
		case MapAgent:
			return fillMap(ctx, tx, &m, sql.MapAgents, args, m.agentCode)
		default:
			return fillMap(ctx, tx, &m, sql.MapShards, args, func(code int16) byte { return byte(code) })
		}
	})
	return m, err
}

func mapPages(ctx context.Context, tx store.DB, job uuid.UUID, w MapWindow) ([]byte, error) {
	type row struct {
		Number                                                   int64
		Open, Provisional, Final, Review, Failed, Cancelled, Out int
		Reopened                                                 bool
	}
	rows, err := store.Many[row](ctx, tx, sql.MapPages, job, w.From, w.To, int64(partition.PageSize))
	data := make([]byte, (w.To-w.From)*MapPageBytes)
	for _, r := range rows {
		record := data[(r.Number-w.From)*MapPageBytes:]
		reopened := 0
		if r.Reopened {
			reopened = 1
		}
		for i, n := range []int{r.Open, r.Provisional, r.Final, r.Review, r.Failed, r.Cancelled, r.Out, reopened} {
			binary.LittleEndian.PutUint16(record[2*i:], uint16(min(n, math.MaxUint16)))
		}
	}
	return data, err
}

// fillMap reads values, one row a page, and puts the byte that stands for each at its shard's place.
func fillMap[T any](ctx context.Context, tx store.DB, m *JobMap, q store.Query, args []any, code func(T) byte) error {
	type row struct {
		Page   int64
		Values []T
	}
	return store.Each(ctx, tx, q, func(r row) error {
		at := (r.Page - m.From) * partition.PageSize
		for i, v := range r.Values {
			m.Data[at+int64(i)] = code(v)
		}
		return nil
	}, args...)
}

// durationCode is 0 for nothing, else one more than four times the binary logarithm of the milliseconds: steps of a fifth, from a
// millisecond to weeks.
func durationCode(us int64) byte {
	if us < 0 {
		return 0
	}
	ms := max(us/1000, 1)
	whole := bits.Len64(uint64(ms)) - 1
	quarter := 0
	for quarter < 3 && float64(ms) >= math.Pow(2, float64(whole)+float64(quarter+1)/4) {
		quarter++
	}
	return byte(1 + 4*whole + quarter)
}

// agentCode numbers agents in the order in which they are met.
func (m *JobMap) agentCode(id uuid.UUID) byte {
	if id == uuid.Nil {
		return 0
	}
	for i, known := range m.Agents {
		if known == id {
			return byte(i + 1)
		}
	}
	if len(m.Agents) == maxMapAgents {
		return maxMapAgents + 1
	}
	m.Agents = append(m.Agents, id)
	return byte(len(m.Agents))
}
