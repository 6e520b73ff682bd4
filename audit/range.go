package audit

import (
	"bytes"
	"fmt"
)

// Range says which records of a log are verified by their content, from the first one to the one before To; To 0: to the end. The hashes of all
// others are verified too, since the signed heads are over all of them.
type Range struct {
	From int64 `json:"from"`
	To   int64 `json:"to,omitempty"`
}

// Check refuses what is no range.
func (of Range) Check() error {
	if of.From < 0 || of.To < 0 || of.To > 0 && of.To <= of.From {
		return fmt.Errorf("there are no records from %d to before %d", of.From, of.To)
	}
	return nil
}

func (of Range) holds(index int64) bool { return index >= of.From && (of.To == 0 || index < of.To) }

// reads says whether a record's content matters: that a log began anew always does, since the names of its heads follow from it.
func (of Range) reads(index int64, record []byte) bool {
	return of.holds(index) || bytes.Contains(record, restartMark)
}

// within says whether all of the range is in another one.
func (of Range) within(other Range) bool {
	return of.From >= other.From && (other.To == 0 || of.To > 0 && of.To <= other.To)
}

// Ends are the bounds of the range in a log of that size.
func (of Range) Ends(size int64) (from, to int64) {
	if of.To == 0 || of.To > size {
		return min(of.From, size), size
	}
	return min(of.From, size), of.To
}

// narrow makes sure that the export has the content of all that is to be verified. The header is signed by nobody: were its range taken for what was
// asked, who hands out the export would choose which records are looked at.
func (e *export) narrow(h headerLine, of Range) error {
	has := Range{From: h.From, To: h.To}
	if err := has.Check(); err != nil {
		return fmt.Errorf("the header of the export: %w", err)
	}
	if has != (Range{}) && !of.within(has) {
		return fmt.Errorf("the export has the content of %s alone, and the content of %s was to be verified: name records that it has, or export all that is to be verified", has, of)
	}
	e.of = of
	return nil
}

// String names the records.
func (of Range) String() string {
	if of == (Range{}) {
		return "all records"
	}
	if of.To == 0 {
		return fmt.Sprintf("the records from %d on", of.From)
	}
	return fmt.Sprintf("records %d to %d", of.From, of.To-1)
}

// reaches makes sure that the log has the range: what is not there is not verified.
func (e *export) reaches() error {
	size := int64(len(e.sealed))
	if e.of != (Range{}) && (e.of.From >= size || e.of.To > size) {
		return fmt.Errorf("the log has %d records, and %s was to be verified", size, e.of)
	}
	return nil
}

// place is where in the file a record stands that is verified.
func (e *export) place(line int64) int64 {
	if e.places == nil {
		return line
	}
	return e.places[line]
}
