package audit

import (
	"cmp"
	"slices"
	"time"
)

// heldHead is a head that the log must have grown out of, and who says so.
type heldHead struct {
	Checkpoint
	kept   bool // by the verifier, not in the export
	stated bool // by a restart, which says what it went on from
}

// roots computes the root at every checkpoint and returns how many of the sealed leaves a signature vouches for.
func (r *Report) roots(e *export, known []Checkpoint) int64 {
	var t tree
	trusted := int64(0)
	for _, head := range e.held(known) {
		for t.size < min(head.Size, int64(len(e.sealed))) {
			t.add(e.sealed[t.size])
		}
		if whole := t.size == head.Size && t.root() == head.Root; !whole && head.kept && r.lost(e, head.Checkpoint) {
			continue
		}
		switch {
		case t.size < head.Size:
			r.fault(Truncated, t.size, head.Size, "records %d to %d are missing: the log has signed that it has %d. An export from before that was signed lacks them too: export again", t.size, head.Size-1, head.Size)
			return trusted
		case t.root() != head.Root:
			r.fault(Rewritten, trusted, head.Size, "among records %d to %d something was changed, and the hashes with it: the root that the log signed for %d records is another one; "+
				"nothing from record %d on is vouched for", trusted, head.Size-1, head.Size, trusted)
			return trusted
		case head.stated:
			continue
		}
		trusted = head.Size
		r.Checkpoints++
		r.Newest, r.Size = head.Checkpoint, head.Size
	}
	return trusted
}

// held are all heads that the log must have grown out of, the smallest first.
func (e *export) held(known []Checkpoint) []heldHead {
	var heads []heldHead
	for _, head := range e.heads {
		heads = append(heads, heldHead{Checkpoint: head})
	}
	for _, head := range known {
		heads = append(heads, heldHead{Checkpoint: head, kept: true})
	}
	for _, restart := range e.restarts {
		if head, err := restart.Restored.checkpoint(restart.From); err == nil {
			heads = append(heads, heldHead{Checkpoint: head, stated: true})
		}
	}
	slices.SortStableFunc(heads, func(a, b heldHead) int { return cmp.Compare(a.Size, b.Size) })
	return heads
}

// lost says whether a restart gave up records of a head that was kept: it is of an epoch before, and longer than what was restored.
func (r *Report) lost(e *export, kept Checkpoint) bool {
	_, epoch := Epoch(kept.Origin)
	for _, restart := range e.restarts {
		if _, since := Epoch(restart.Origin); since <= epoch || kept.Size <= restart.Restored.Size {
			continue
		}
		r.fault(Lost, restart.Restored.Size, kept.Size, "the checkpoint that was kept has %d records, and those from record %d on are not those that it vouches for: "+
			"the log began anew at record %d (%s), and the reason given is %q", kept.Size, restart.Restored.Size, restart.Index, restart.At.Format(time.RFC3339), restart.Reason)
		return true
	}
	return false
}

// compare says of each record whether it is the one that was sealed, and of each that was sealed whether it is there.
func (r *Report) compare(e *export, trusted int64) {
	if e.inOrder(trusted) {
		for i := range e.leaves {
			if e.pruned[i] {
				r.Pruned++
			} else {
				r.Records++
			}
		}
		return
	}
	// Only now, since it costs a table of all: where does each record belong?
	place := make(map[Hash]int64, len(e.sealed))
	for i, h := range e.sealed {
		place[h] = int64(i)
	}
	seen := make([]bool, len(e.sealed))
	for i := range seen {
		seen[i] = !e.of.holds(int64(i)) // what is not looked at is not missed
	}
	strangers := []int64{} // lines whose bytes no leaf has
	next := int64(0)
	for line := range int64(len(e.leaves)) {
		claimed := e.claimed[line]
		at, found := place[e.leaves[line]]
		if e.pruned[line] {
			at, found = claimed, claimed < int64(len(e.sealed))
		}
		switch {
		case !found:
			strangers = append(strangers, line)
			continue
		case seen[at] && e.of.holds(at):
			r.fault(Repeated, at, at+1, "record %d stands there twice, the second time as the one at place %d of the file", at, e.place(line))
			continue
		}
		seen[at] = true
		switch {
		case claimed != at:
			r.fault(Renumbered, at, at+1, "record %d says that it is record %d", at, claimed)
		case at < next:
			r.fault(Reordered, at, at+1, "record %d stands after record %d, at place %d of the file", at, next-1, e.place(line))
		case e.pruned[line]:
			r.Pruned++
		default:
			r.Records++
		}
		next = max(next, at+1)
	}
	r.strangers(e, seen, strangers)
	r.missing(seen)
}

// inOrder says whether every record is the one that was sealed under its number.
func (e *export) inOrder(trusted int64) bool {
	if int64(len(e.sealed)) != trusted {
		return false
	}
	from, to := e.of.Ends(trusted)
	inside, last := int64(0), int64(-1)
	for i, h := range e.leaves {
		at := e.claimed[i]
		if at <= last || at >= trusted || h != e.sealed[at] && !e.pruned[i] {
			return false
		}
		if last = at; e.of.holds(at) {
			inside++
		}
	}
	return inside == to-from
}

// strangers tells edits, whose record is missing, from insertions.
func (r *Report) strangers(e *export, seen []bool, lines []int64) {
	first, last := int64(-1), int64(-1) // of those that stand after all hashes
	for _, line := range lines {
		claimed := e.claimed[line]
		line = e.place(line)
		if sealed := int64(len(seen)); line >= sealed && claimed >= sealed {
			if first < 0 {
				first = line
			}
			last = line
			continue
		}
		if claimed < int64(len(seen)) && !seen[claimed] {
			seen[claimed] = true
			r.fault(Edited, claimed, claimed+1, "record %d was edited: its content is not what was sealed", claimed)
			continue
		}
		r.fault(Inserted, line, line+1, "at place %d of the file stands a record (as number %d) that was never sealed", line, claimed)
	}
	if first >= 0 {
		r.fault(Unsigned, first, last+1, "records at places %d to %d of the file have neither a hash nor a checkpoint that vouches for them", first, last)
	}
}

// missing names runs of records that are not there.
func (r *Report) missing(seen []bool) {
	for from := 0; from < len(seen); from++ {
		if seen[from] {
			continue
		}
		to := from
		for to < len(seen) && !seen[to] {
			to++
		}
		kind, where := Dropped, "from the middle"
		if to == len(seen) {
			kind, where = Truncated, "at the end"
		}
		if to == from+1 {
			r.fault(kind, int64(from), int64(to), "record %d is missing %s", from, where)
		} else {
			r.fault(kind, int64(from), int64(to), "records %d to %d are missing %s", from, to-1, where)
		}
		from = to
	}
}

// ends checks what the end of the file says.
func (r *Report) ends(e *export) {
	records := e.lines
	switch {
	case !e.ended:
		r.fault(Truncated, records, records, "the file breaks off after record %d: its end is missing", records-1)
	case !e.end.End || e.end.Records != records || e.end.Checkpoints != int64(len(e.heads)):
		r.fault(Garbled, records, records, "the end of the file says %d records and %d checkpoints, and there are %d and %d", e.end.Records, e.end.Checkpoints, records, len(e.heads))
	}
	if sealed := int64(len(e.sealed)); sealed > r.Size && r.Sound() {
		r.fault(Unsigned, r.Size, sealed, "no checkpoint vouches for records %d to %d", r.Size, sealed-1)
	}
}
