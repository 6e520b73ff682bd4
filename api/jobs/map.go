package jobs

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"github.com/ostraka/ostraka/api/rest"
	"github.com/ostraka/ostraka/functions/jobs"
)

// Maps is what the API asks of the domain about the picture of a job.
type Maps interface {
	// Map draws a part of a job.
	Map(ctx context.Context, project, job uuid.UUID, window jobs.MapWindow) (jobs.JobMap, error)
}

const (
	// mapAge is how old a shared map may be: one viewer has it read again, the others get the same.
	mapAge = 500 * time.Millisecond
	// keptMaps is how many maps of one window are kept to make differences from.
	keptMaps = 6
	// maxMapBytes bounds what all kept maps take in memory.
	maxMapBytes = 16 << 20
)

// MapInput asks for a map of a job.
type MapInput struct {
	rest.JobPath
	Mode        string `query:"mode" enum:"pages,state,duration,agent,age" default:"state" doc:"What it shows; see above."`
	From        int64  `query:"from" minimum:"0" doc:"The first page of 1,024 shards."`
	To          int64  `query:"to" minimum:"0" doc:"The page after the last one; as far as a map reaches when left out."`
	Since       string `query:"since" maxLength:"100" doc:"The ETag of a map of the same window: the answer may then say only what is different."`
	IfNoneMatch string `header:"If-None-Match" doc:"The ETag of the last answer: 304 when the map is still the same."`
}

// MapHead is the first line of a map.
type MapHead struct {
	Mode   string      `json:"mode"`
	From   int64       `json:"from" doc:"The first page."`
	To     int64       `json:"to" doc:"The page after the last one."`
	Shards int64       `json:"shards" doc:"Of the job."`
	Pages  int64       `json:"pages" doc:"Of the job."`
	Bytes  int         `json:"bytes" doc:"Of the whole map, without this line."`
	Delta  bool        `json:"delta" doc:"Whether what follows are changes: each an offset and a length of 4 bytes, the low byte first, and that many bytes."`
	Agents []uuid.UUID `json:"agents,omitempty" doc:"In the mode agent: number n is the agent at n-1."`
}

const mapAbout = `The first line is JSON (MapHead), what follows are bytes.

In the mode ` + "`state`" + ` there is one byte for each shard: 0 waiting, 1 running, 2 voting, 3 accepted and not final, 4 accepted, 5 review, 6 failed, 7 cancelled.
In ` + "`duration`" + ` 0 is none, else one more than four times the binary logarithm of the milliseconds that the accepted attempt took. In ` + "`agent`" + `
0 is none, n the agent at n-1 of ` + "`agents`" + ` whose output was accepted, and 255 any other. ` + "`age`" + ` says in the way of ` + "`duration`" + ` for how long an attempt is out that nobody has answered yet. These maps cover up to 64 pages of 1,024 shards.

In ` + "`pages`" + ` there are 16 bytes for each page, eight numbers of two bytes, the low one first: open, accepted and not final, accepted and final, review,
failed, cancelled, attempts that are out, and 1 where results were taken back. Such a map covers the largest job.

With ` + "`since`" + ` the answer may be the changes since that map. All who look at one window within half a second get the same map.`

func (s *server) mapOperations() {
	answers := rest.BytesAnswer(rest.OctetStream, "A line of JSON and bytes.")
	answers["200"].Content[rest.OctetStream].Schema.Extensions = map[string]any{
		"x-ostraka-head": rest.RefTo(rest.SchemaOf(s.Huma.OpenAPI().Components.Schemas, MapHead{})),
	}
	answers["304"] = rest.NotModified()["304"]
	rest.Register(s.Server, rest.Operation{
		ID: "getMap", Method: http.MethodGet, Path: rest.JobsPath + "/{job}/map", Tag: "jobs", Summary: "Draw a map of a job's shards", About: mapAbout,
		Access: rest.Readers(), Answers: answers,
	}, s.getMap)
}

func (s *server) getMap(ctx context.Context, c *rest.Call, in *MapInput) (*rest.StreamOutput, error) {
	project, job, err := in.IDs()
	if err != nil {
		return nil, err
	}
	window := jobs.MapWindow{Mode: in.Mode, From: in.From, To: in.To}
	drawn, old, err := s.maps.get(mapKey{project, job, window}, in.Since, func() (jobs.JobMap, error) {
		return s.service.Map(context.WithoutCancel(ctx), project, job, window)
	})
	if err != nil {
		return nil, err
	}
	return &rest.StreamOutput{Body: func(hc huma.Context) {
		hc.SetHeader("ETag", drawn.tag)
		if rest.TagMatches(in.IfNoneMatch, drawn.tag) {
			hc.SetStatus(http.StatusNotModified)
			return
		}
		body := drawn.body(old)
		hc.SetHeader("Content-Type", rest.OctetStream)
		if rest.AcceptsGzip(c.Request.Header.Get("Accept-Encoding")) {
			hc.SetHeader("Content-Encoding", "gzip")
			body = packed(body)
		}
		hc.SetHeader("Vary", "Accept-Encoding")
		hc.SetHeader("Content-Length", strconv.Itoa(len(body)))
		hc.SetStatus(http.StatusOK)
		_, _ = c.Writer.Write(body) // the client is gone when this fails
	}}, nil
}

func packed(body []byte) []byte {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil {
		panic(err) // the level is a constant
	}
	_, _ = w.Write(body) // a buffer takes everything
	_ = w.Close()
	return b.Bytes()
}

// drawnMap is a map as it was at one moment.
type drawnMap struct {
	jobs.JobMap
	tag string
	at  time.Time
}

// body is what is sent to somebody who has an older map, or none.
func (m *drawnMap) body(old *drawnMap) []byte {
	head := MapHead{Mode: m.Mode, From: m.From, To: m.To, Shards: m.Shards, Pages: m.Pages, Bytes: len(m.Data), Agents: m.Agents}
	data := m.Data
	if old != nil && len(old.Data) == len(m.Data) {
		if changes := mapChanges(old.Data, m.Data); len(changes) < len(data) {
			head.Delta, data = true, changes
		}
	}
	line, err := json.Marshal(head)
	if err != nil {
		panic(err) // the head has nothing that cannot be written
	}
	return append(append(line, '\n'), data...)
}

// mapChanges says what is different: offset, length and bytes of each run. Runs that lie closer than a head is long are one.
func mapChanges(old, now []byte) []byte {
	const head = 8
	changes := []byte{}
	for i := 0; i < len(now); {
		if old[i] == now[i] {
			i++
			continue
		}
		end := i + 1
		for j := end; j < len(now) && j < end+head; j++ {
			if old[j] != now[j] {
				end = j + 1
			}
		}
		changes = binary.LittleEndian.AppendUint32(changes, uint32(i))
		changes = binary.LittleEndian.AppendUint32(changes, uint32(end-i))
		changes = append(changes, now[i:end]...)
		i = end
	}
	return changes
}

type mapKey struct {
	project, job uuid.UUID
	window       jobs.MapWindow
}

// mapCache hands one map to all who look at the same window at the same time, and remembers the last ones of each window.
type mapCache struct {
	mu      sync.Mutex
	windows map[mapKey]*mapHistory
	bytes   int
}

type mapHistory struct {
	drawing sync.Mutex // held while the map is drawn: others wait for it
	maps    []*drawnMap
}

func newMapCache() *mapCache { return &mapCache{windows: map[mapKey]*mapHistory{}} }

// get returns the map as it is, and the older one with the tag since, where that is remembered.
func (c *mapCache) get(key mapKey, since string, draw func() (jobs.JobMap, error)) (now, old *drawnMap, err error) {
	h := c.history(key)
	h.drawing.Lock()
	defer h.drawing.Unlock()
	now = h.last()
	if now == nil || time.Since(now.at) > mapAge {
		m, err := draw()
		if err != nil {
			return nil, nil, err
		}
		now = c.keep(key, h, m)
	}
	for _, m := range h.maps {
		if m.tag == strings.TrimPrefix(since, "W/") {
			old = m
		}
	}
	return now, old, nil
}

func (c *mapCache) history(key mapKey) *mapHistory {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.bytes > maxMapBytes { // begin again: a map is drawn in milliseconds
		c.windows, c.bytes = map[mapKey]*mapHistory{}, 0
	}
	h := c.windows[key]
	if h == nil {
		h = &mapHistory{}
		c.windows[key] = h
		c.bytes += mapOverhead // an empty window has nothing else
	}
	return h
}

func (h *mapHistory) last() *drawnMap {
	if len(h.maps) == 0 {
		return nil
	}
	return h.maps[len(h.maps)-1]
}

// keep remembers a map, once for each content.
func (c *mapCache) keep(key mapKey, h *mapHistory, m jobs.JobMap) *drawnMap {
	drawn := &drawnMap{JobMap: m, tag: mapTag(m), at: time.Now()}
	if last := h.last(); last != nil && last.tag == drawn.tag {
		last.at = drawn.at
		return last
	}
	h.maps = append(h.maps, drawn)
	grown := len(m.Data) + mapOverhead
	if len(h.maps) > keptMaps {
		grown -= len(h.maps[0].Data) + mapOverhead
		h.maps = h.maps[1:]
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.windows[key] == h {
		c.bytes += grown
	}
	return drawn
}

// mapOverhead is what a kept map takes beside its bytes, roughly.
const mapOverhead = 512

func mapTag(m jobs.JobMap) string {
	sum := sha256.New()
	for _, n := range []int64{m.From, m.To, m.Shards} {
		_ = binary.Write(sum, binary.LittleEndian, n) // a hash takes everything
	}
	sum.Write([]byte(m.Mode))
	sum.Write(m.Data)
	return `"` + hex.EncodeToString(sum.Sum(nil)[:12]) + `"`
}
