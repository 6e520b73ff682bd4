package main

import (
	"fmt"
	"strings"

	"github.com/ostraka/ostraka/client"
)

// ownersText says who has brought a job's results. The shares are of all that were brought, whatever became of them.
func ownersText(j client.Job) string {
	o := j.Owners
	if o == nil || len(o.Largest) == 0 {
		return ""
	}
	names := make([]string, len(o.Largest))
	for i, l := range o.Largest {
		names[i] = fmt.Sprintf("%s %s", l.Owner, percent(l.Share))
	}
	text := strings.Join(names, ", ")
	if more := o.Owners - int64(len(names)); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	text += fmt.Sprintf(" of the %s brought", count(o.Results, "result"))
	if v := j.Verification; v != nil && v.Reopened > 0 {
		text += ", also those that were taken back"
	}
	return text
}

// aboveShareText says what a bound is worth where one owner has more of the results than is assumed.
func aboveShareText(j client.Job) string {
	o := j.Owners
	if o == nil || !o.Above || len(o.Largest) == 0 || j.Shards.Accepted == 0 || j.Policy.Quorum == 1 { // of none, no owner brought too many; one answer that is believed assumes nothing
		return ""
	}
	text := fmt.Sprintf("%s brought %s of these results, and the policy assumes that no more than %s are hostile", o.Largest[0].Owner, percent(o.Largest[0].Share), percent(o.Stated))
	if o.ErrorBound > 0 {
		text += fmt.Sprintf(": whatever it does by itself, at most %.2g of the results are wrong, and %.2g where others with %s are hostile too", j.Policy.TargetError, o.ErrorBound, percent(o.Stated))
	}
	return text
}

func percent(share float64) string { return fmt.Sprintf("%.3g %%", 100*share) }
