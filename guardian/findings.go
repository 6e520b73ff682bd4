package guardian

import (
	"cmp"
	"slices"
)

// Trim keeps a list of findings within MaxFindings: of each rule the heaviest, so that no flood of one kind hides another. What it
// returns is sorted by file, line, rule and what was seen, so that the same findings give the same digest of an operation.
func Trim(findings []Finding) []Finding {
	list := slices.Clone(findings)
	rank := map[string]int{}
	slices.SortStableFunc(list, func(a, b Finding) int { return cmp.Or(cmp.Compare(b.Weight, a.Weight), inOrder(a, b)) })
	type ranked struct {
		Finding
		rank int // among those of its rule
	}
	all := make([]ranked, len(list))
	for i, f := range list {
		all[i] = ranked{f, rank[f.Rule]}
		rank[f.Rule]++
	}
	slices.SortStableFunc(all, func(a, b ranked) int { return cmp.Compare(a.rank, b.rank) })
	all = all[:min(len(all), MaxFindings)]
	list = list[:0]
	for _, f := range all {
		list = append(list, f.Finding)
	}
	slices.SortFunc(list, inOrder)
	return list
}

func inOrder(a, b Finding) int {
	return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.What, b.What), cmp.Compare(a.Weight, b.Weight),
		cmp.Compare(a.Module, b.Module), cmp.Compare(a.Text, b.Text))
}

// OfFile are the findings of one file: the places that a heuristic named, and one without a line for each of its labels that no place
// has, since it names the heaviest places only.
func OfFile(module, file string, labels []string, places []Finding) []Finding {
	list := make([]Finding, 0, len(places)+len(labels))
	for _, p := range places {
		p.Module, p.File = module, file
		list = append(list, p)
	}
	for _, label := range labels {
		if !slices.ContainsFunc(places, func(p Finding) bool { return p.Rule == label }) {
			list = append(list, Finding{Module: module, File: file, Rule: label})
		}
	}
	return list
}
