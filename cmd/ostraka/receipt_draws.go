package main

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/ostraka/ostraka/audit"
	"github.com/ostraka/ostraka/functions/verify"
	"github.com/ostraka/ostraka/runtime/archive"
)

// drawsCheck repeats the draws of a receipt. Nil: it does not have the secret by which they were made.
type drawsCheck struct {
	redraw   *verify.Redraw
	tolerant bool // a validator decides what the same is
	policy   verify.Policy
	repeated int64
	without  int64 // results about which nothing was drawn
}

// drawsReport is what was found out about the draws of a receipt.
type drawsReport struct {
	Drawn       int64   `json:"drawn"`         // results that were drawn for an audit
	AtOnce      int64   `json:"at_once"`       // of these: by themselves
	OfWindows   int64   `json:"of_windows"`    // of these: as some of a window
	Repeated    int64   `json:"repeated"`      // draws that were repeated here
	WithoutDraw int64   `json:"without_draw"`  // results that several agents agreed on, that a server executed, or whose audit was asked for
	Windows     int64   `json:"windows"`       // windows of results of one agent
	ThinWindows int64   `json:"thin_windows"`  // those that have fewer audits left than the policy asks of so many results
	LeastRate   float64 `json:"least_rate"`    // of results that are audited at once
	MostRate    float64 `json:"greatest_rate"` // the same
	Committed   *int64  `json:"committed"`     // the number of the record with the digest of the secret; null: there is none
}

func newDrawsCheck(said audit.Statement) *drawsCheck {
	if said.Draws == nil || said.Draws.Key() == nil {
		return nil
	}
	d := &drawsCheck{redraw: verify.NewRedraw(said.Draws.Key(), said.Job, said.Draws.Quorum), tolerant: said.Validator != nil}
	if json.Unmarshal(said.Policy, &d.policy) != nil {
		d.policy = verify.Policy{} // too long for the receipt, which has its digest
	}
	return d
}

// see repeats the draw about one result.
func (d *drawsCheck) see(l audit.ShardLine) error {
	if d == nil {
		return nil
	}
	if l.Draw == nil {
		d.without++
		return nil
	}
	said := verify.Stated{Shard: l.Shard, Rate: verify.Rate(l.Draw.Rate), Window: l.Draw.Window, Drawn: l.Draw.Drawn, Server: l.Server, Tolerant: d.tolerant}
	if l.Draw.Agent < len(l.Agents) {
		said.Agent = l.Agents[l.Draw.Agent]
	}
	if err := d.redraw.Repeat(said); err != nil {
		return refused(fmt.Errorf("an audit was not drawn by the secret: %w", err))
	}
	d.repeated++
	return nil
}

func (d *drawsCheck) report(committed *audit.Committed) *drawsReport {
	if d == nil {
		return nil
	}
	seen := d.redraw.Redrawn
	r := &drawsReport{
		Drawn: seen.Drawn(), AtOnce: seen.AtOnce, OfWindows: seen.OfWindow, Repeated: d.repeated, WithoutDraw: d.without, Windows: seen.Windows,
		LeastRate: seen.Least.Share(), MostRate: seen.Most.Share(),
	}
	if d.policy.TargetError > 0 {
		r.ThinWindows = d.redraw.Thin(verify.Derive(d.policy))
	}
	if committed != nil {
		r.Committed = &committed.Index
	}
	return r
}

// drawsText says what was found out about the draws.
func drawsText(r *drawsReport) string {
	text := fmt.Sprintf("%d drawn, all as the secret says", r.Drawn)
	if r.Repeated > 0 {
		text += fmt.Sprintf(": %d at once, at a rate of %s of %s", r.AtOnce, rates(r.LeastRate, r.MostRate), count(r.Repeated, "result"))
	}
	if r.Windows > 0 {
		text += fmt.Sprintf(", and %d of %s", r.OfWindows, count(r.Windows, "window"))
	}
	if r.WithoutDraw > 0 {
		text += fmt.Sprintf("; none about %s", count(r.WithoutDraw, "further result"))
	}
	return text
}

func rates(least, most float64) string {
	if least == most {
		return percentOf(least)
	}
	return percentOf(least) + " to " + percentOf(most)
}

func percentOf(share float64) string { return strconv.FormatFloat(100*share, 'g', 4, 64) + " %" }

// secretText says where the digest of the secret stands in the log.
func secretText(c *audit.Committed) string {
	if c == nil {
		return "shown; the record of its digest was pruned from the log"
	}
	return fmt.Sprintf("its digest is in record %d of the log, of %s, when the job was submitted", c.Index, c.Record.At.UTC().Format(time.RFC3339))
}

// oneDrawText says what the draw about the one result of a file was.
func oneDrawText(p *audit.ShardProof, r *drawsReport) string {
	switch {
	case p == nil:
		return ""
	case p.Line.Draw == nil:
		return "nothing was drawn about this result"
	case r.Drawn > 0:
		return "it was drawn for an audit"
	case p.Line.Draw.Window > 0:
		return fmt.Sprintf("it was not drawn at once, as the secret says, and waited in window %d of its agent", p.Line.Draw.Window)
	}
	return "it was not drawn, as the secret says"
}

// drawsNotProved says what a pass leaves open about the draws.
func drawsNotProved(r receiptReport) (open []string) {
	say := func(some bool, what string) {
		if some {
			open = append(open, what)
		}
	}
	d := r.Draws
	if d == nil {
		say(r.Statement.Draws != nil || len(r.Statement.Verification) > 0, "that audits were drawn by chance: the receipt has no secret by which they could be drawn again")
		return open
	}
	say(r.Lines == 0 && r.one == nil && r.Statement.Shards.Accepted > 0, "that audits were drawn as the secret says: the receipt has no lines of shards")
	say(d.Committed == nil, "that the secret was chosen before anybody worked: the record of its digest was pruned from the log")
	say(r.one != nil && r.one.Line.Draw != nil && r.one.Line.Draw.Window > 0, "which results of its window were drawn: the file has one line")
	say(d.ThinWindows > 0, fmt.Sprintf("that %s had as many audits as the policy asks for: some of its results were taken back meanwhile, or the server drew fewer", count(d.ThinWindows, "window")))
	say(d.WithoutDraw > 0, fmt.Sprintf("why nothing was drawn about %s: several agents agreed, a server executed them, they were asked for, or a person decided", count(d.WithoutDraw, "result")))
	say(true, "that the server told the secret to nobody before the job was over, and drew nothing more whose results were taken back")
	return open
}

// drawOf is a draw as it stands in an archive.
func drawOf(d archive.Draw) audit.DrawOf {
	return audit.DrawOf{Agent: d.Agent, Rate: int(d.Rate), Window: int64(d.Window), Drawn: d.Drawn}
}
