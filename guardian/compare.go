package guardian

import "context"

// Difference is an operation about which two policies say different things.
type Difference struct {
	Operation Operation `json:"operation"`
	Before    Decision  `json:"before"`
	After     Decision  `json:"after"`
}

// Compare says what another policy would have decided differently: another verdict, other conditions or another risk.
func Compare(ctx context.Context, before, after *Policy, operations []Operation, c Circumstances) []Difference {
	var list []Difference
	for _, o := range operations {
		a, b := before.Decide(ctx, o, c), after.Decide(ctx, o, c)
		if a.Verdict != b.Verdict || a.Risk != b.Risk || !a.Conditions.same(b.Conditions) {
			list = append(list, Difference{o, a, b})
		}
	}
	return list
}
