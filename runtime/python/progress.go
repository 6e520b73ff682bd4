package python

import "strings"

// progress tells how far an install is. It is unused when no tree is unpacked.
type progress struct {
	done, total int64
	report      func(done, total int64)
}

func (i installer) progress(wrong []Entry) *progress {
	p := &progress{report: i.report}
	for _, e := range wrong {
		p.total += e.Size
	}
	return p
}

func (p *progress) add(n int64) {
	p.done += n
	if p.report != nil {
		p.report(p.done, p.total)
	}
}

func cmpPaths(a, b string) int { return strings.Compare(a, b) }
