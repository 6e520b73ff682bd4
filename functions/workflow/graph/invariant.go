package graph

import (
	"fmt"
	"slices"
	"strings"
)

// checksOf makes steps of the type check out of [[invariants]]: what must hold of the steps that each names. An identity needs no more than
// its two sides; a condition says by needs which steps it sees.
func checksOf(invariants []stepTable) ([]stepTable, error) {
	checks := make([]stepTable, 0, len(invariants))
	for i, t := range invariants {
		field := fmt.Sprintf("invariants[%d]", i)
		if !partName.MatchString(t.Name) {
			return nil, badPart(field+".name", t.Name)
		}
		if t.Type != "" {
			return nil, wrong(field+".type", "leave it out", "an invariant has no type: it is a check")
		}
		t.Type = StepCheck
		if t.Identity != nil && len(t.Needs) == 0 {
			for _, side := range []string{t.Identity.Left, t.Identity.Right} {
				name, _, _ := strings.Cut(side, ".")
				if name != "" && !slices.Contains(t.Needs, name) {
					t.Needs = append(t.Needs, name)
				}
			}
		}
		if len(t.Needs) == 0 {
			return nil, wrong(field+".needs", `write for example needs = ["search"]`, "the invariant says of no step that it must hold")
		}
		checks = append(checks, t)
	}
	return checks, nil
}
