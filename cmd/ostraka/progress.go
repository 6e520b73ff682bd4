package main

import (
	"fmt"
	"time"

	"github.com/schollz/progressbar/v3"
)

const (
	// progressStep is how much must be new for a line where no bar can be drawn, in percent.
	progressStep = 10
	// progressPace is the longest silence there while something is new.
	progressPace = 10 * time.Second
)

// progress shows a person how far a job is: a bar on a terminal, a line now and then elsewhere.
type progress struct {
	t        *terminal
	label    string
	unit     string // what is counted
	bytes    bool   // it is bytes: a bar counts them in larger units
	bar      *progressbar.ProgressBar
	total    int64
	done     int64
	saidAt   time.Time
	saidStep int64
}

func newProgress(t *terminal, label string) *progress {
	return &progress{t: t, label: label, unit: "shard", saidStep: -1, saidAt: time.Now()}
}

// update tells how many of the shards are settled.
func (p *progress) update(done, total int64) {
	if total <= 0 || p.total == total && p.done == done {
		return
	}
	grown := p.total != total
	p.done, p.total = done, total
	if p.t.live {
		p.draw(grown)
		return
	}
	step := 100 * done / total / progressStep
	if step == p.saidStep && time.Since(p.saidAt) < progressPace {
		return
	}
	p.saidStep, p.saidAt = step, time.Now()
	p.t.say("%s: %d of %s (%d%%)", p.label, done, count(total, p.unit), 100*done/total)
}

func (p *progress) draw(grown bool) {
	if p.bar == nil {
		p.bar = progressbar.NewOptions64(p.total,
			progressbar.OptionSetWriter(p.t.talk),
			progressbar.OptionSetDescription(p.label),
			progressbar.OptionSetWidth(32),
			progressbar.OptionShowCount(),
			progressbar.OptionShowBytes(p.bytes),
			progressbar.OptionSetPredictTime(true),
			progressbar.OptionSetElapsedTime(true),
			progressbar.OptionThrottle(65*time.Millisecond),
			progressbar.OptionUseANSICodes(true),
		)
	}
	if grown {
		p.bar.ChangeMax64(p.total)
	}
	_ = p.bar.Set64(p.done) // drawing is all it does
}

// note says something in between, above the bar.
func (p *progress) note(format string, args ...any) {
	if p.bar != nil {
		_ = p.bar.Clear()
	}
	p.t.say("%s", plain(fmt.Sprintf(format, args...)))
	if p.bar != nil && !p.bar.IsFinished() {
		_ = p.bar.RenderBlank()
	}
}

// finish leaves the bar as it is and starts a new line.
func (p *progress) finish() {
	if p.bar != nil {
		_ = p.bar.Exit()
		p.t.say("")
		p.bar = nil
	}
}
