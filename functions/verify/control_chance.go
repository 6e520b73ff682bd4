package verify

import (
	"cmp"
	"math"
	"slices"
)

// A function that gives another answer in one of twenty runs makes honest owners
// contradict controls. So nobody is charged for a contradiction as such: owners are
// charged who contradict more often than chance gives to some of so many owners that
// are all alike. Whatever share of the answers differs by chance, the contradictions
// are spread over all who answer then; those of liars are theirs.

const (
	// ControlChance is the largest probability with which chance may bring about what
	// owners are charged for.
	ControlChance = 1e-3
	// MinContradictions is how many controls an owner must contradict at least to be
	// charged.
	MinContradictions = 2
)

// ControlHand is what an owner said to the controls of a job that were settled.
type ControlHand struct {
	Hand         string
	Answers      int
	Contradicted int // of them, those that are proven wrong
}

func (h ControlHand) rate() float64 { return float64(h.Contradicted) / float64(h.Answers) }

// BeyondChance are the hands of those who contradict controls more often than chance
// explains: nobody where more than half of all do about as often. Accomplices are looked for together, since
// each of them by itself makes the others look like chance: of all sets of so many
// owners the one that contradicts most often is compared with the others, and how many
// such sets there are is accounted for.
func BeyondChance(hands []ControlHand) (beyond []string) {
	all := slices.DeleteFunc(slices.Clone(hands), func(h ControlHand) bool { return h.Answers == 0 })
	slices.SortFunc(all, func(a, b ControlHand) int {
		return cmp.Or(cmp.Compare(b.rate(), a.rate()), cmp.Compare(b.Contradicted, a.Contradicted), cmp.Compare(a.Hand, b.Hand))
	})
	n, best, least := len(all), 0, ControlChance
	for j := 1; 2*j <= n; j++ {
		sets := math.Exp(logChoose(int64(n), int64(j)))
		if p := sets * concentrated(added(all[:j]), added(all[j:])); p <= least {
			best, least = j, p
		}
	}
	if best == 0 || mostAlike(all, added(all[:best])) {
		return nil
	}
	others := added(all[best:])
	for _, h := range all[:best] {
		if h.Contradicted >= MinContradictions && concentrated(h, others) <= ControlChance {
			beyond = append(beyond, h.Hand)
		}
	}
	return beyond
}

// mostAlike says whether more than half of all contradict about as often as these: it
// is the function then, or the file.
func mostAlike(all []ControlHand, these ControlHand) bool {
	alike := 0
	for _, h := range all {
		if h.Contradicted >= MinContradictions && 2*h.rate() >= these.rate() {
			alike++
		}
	}
	return 2*alike > len(all)
}

func added(hands []ControlHand) (sum ControlHand) {
	for _, h := range hands {
		sum.Answers += h.Answers
		sum.Contradicted += h.Contradicted
	}
	return sum
}

// concentrated is the probability with which at least so many of the contradictions
// of both are those of the first, if each answer is one of them as likely as any other
// (Fisher's exact test).
func concentrated(these, others ControlHand) float64 {
	all, wrong := int64(these.Answers+others.Answers), int64(these.Contradicted+others.Contradicted)
	sum, ways := 0.0, logChoose(all, int64(these.Answers))
	for k := int64(these.Contradicted); k <= min(wrong, int64(these.Answers)); k++ {
		if rest := int64(these.Answers) - k; rest <= all-wrong {
			sum += math.Exp(logChoose(wrong, k) + logChoose(all-wrong, rest) - ways)
		}
	}
	return min(sum, 1)
}
