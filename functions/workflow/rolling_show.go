package workflow

import (
	"encoding/json"
	"math/big"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/workflow/graph"
)

// maxShownAnswer is the longest running answer that is shown with a run, in bytes: a list of runs is no place for more.
const maxShownAnswer = 64 << 10

// RollingProgress is how far a rolling step has come. Integers of any size are decimal texts.
type RollingProgress struct {
	From       string          `json:"from"`
	To         string          `json:"to" doc:"The end of the range, which is not in it."`
	Front      string          `json:"front" doc:"Everything below it, from from on, is verified and folded into the answer."`
	Next       string          `json:"next" doc:"From here on there was no job yet."`
	Done       string          `json:"done" doc:"How many integers are verified, also beyond the front."`
	Left       string          `json:"left"`
	OpenJobs   int64           `json:"open_jobs"`
	OpenShards int64           `json:"open_shards" doc:"Shards of jobs that have not ended."`
	Ahead      int64           `json:"ahead" doc:"How many of them there may be."`
	Folded     int64           `json:"folded_jobs" doc:"Jobs whose answers are folded; they may be deleted."`
	Lost       int64           `json:"lost_jobs" doc:"Jobs that came to nothing, those included that were made anew since."`
	Holes      []Hole          `json:"holes" doc:"Stretches whose jobs came to nothing, or wait for people."`
	Waits      string          `json:"waits,omitempty" doc:"Why no further job begins: no room in a quota, or too many holes."`
	Answer     json.RawMessage `json:"answer,omitempty" doc:"The running aggregate over all below the front; left out where it is longer than 64 KiB."`
	Results    int64           `json:"results" doc:"How many results are in it."`
	PerSecond  float64         `json:"per_second,omitempty" doc:"Integers a second; pauses of the run are left out."`
	Usual      *time.Time      `json:"eta,omitempty" doc:"When it is through at that pace."`
	Earliest   *time.Time      `json:"eta_earliest,omitempty"`
	Latest     *time.Time      `json:"eta_latest,omitempty" doc:"At the pace of its slower stretches of time; left out where that is a century or more."`
}

// Hole is a stretch of a rolling step's range that is not verified and needs somebody to look at it.
type Hole struct {
	From     string             `json:"from"`
	To       string             `json:"to"`
	State    string             `json:"state" enum:"hole,again,people" doc:"hole: its job came to nothing. again: it gets another one. people: its job waits for people."`
	JobID    *uuid.UUID         `json:"job,omitempty" doc:"Unless it was deleted, or there is none."`
	JobState functions.JobState `json:"job_state,omitempty"`
	Error    string             `json:"error,omitempty"`
}

// progress is how far the step has come, as people see it.
func (r *rolling) progress(state graph.StepState, now time.Time) *RollingProgress {
	done := r.at.Done()
	left := new(big.Int).Sub(r.at.To, r.at.From)
	left.Sub(left, done)
	p := &RollingProgress{
		From: r.First, To: r.Until, Front: r.at.Front().String(), Next: r.Next, Done: done.String(), Left: left.String(), Ahead: r.Ahead,
		Folded: r.Folded, Lost: r.Lost, Holes: []Hole{}, Waits: r.Waits, Results: r.AnswerCount,
	}
	if len(r.Answer) <= maxShownAnswer {
		p.Answer = r.Answer
	}
	holes := 0
	for _, part := range r.parts {
		hole := Hole{From: part.First, To: part.Last, State: string(part.State), JobID: part.JobID, Error: part.Error}
		if part.JobState != nil {
			hole.JobState = *part.JobState
		}
		switch part.State {
		case graph.PartDone:
			continue
		case graph.PartAgain:
		case graph.PartHole:
			holes++
		case graph.PartOpen:
			p.OpenJobs, p.OpenShards = p.OpenJobs+1, p.OpenShards+part.Shards
			if hole.State = "people"; !hole.JobState.Waits() {
				continue
			}
		}
		p.Holes = append(p.Holes, hole)
	}
	if holes >= graph.MaxHoles {
		p.Waits = "there are as many holes as there may be: have their jobs made anew"
	}
	if state == graph.StepRunning {
		p.pace(graph.PaceOf(r.Marks, left, now))
	}
	return p
}

func (p *RollingProgress) pace(pace graph.Pace) {
	p.PerSecond = pace.PerSecond
	for _, at := range []struct {
		of time.Time
		to **time.Time
	}{{pace.Usual, &p.Usual}, {pace.Earliest, &p.Earliest}, {pace.Latest, &p.Latest}} {
		if !at.of.IsZero() {
			*at.to = new(at.of)
		}
	}
}
