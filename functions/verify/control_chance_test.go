package verify_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions/verify"
)

// handsOf reads hands written as "contradicted/answers"; they are a, b, c and so on.
func handsOf(t *testing.T, text string) (hands []verify.ControlHand) {
	t.Helper()
	for i, word := range strings.Fields(text) {
		h := verify.ControlHand{Hand: string(rune('a' + i))}
		_, err := fmt.Sscanf(word, "%d/%d", &h.Contradicted, &h.Answers)
		require.NoError(t, err)
		hands = append(hands, h)
	}
	return hands
}

func TestBeyondChance(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ hands, beyond string }{
		"nobody":                                {"", ""},
		"no contradiction":                      {"0/10 0/10 0/10", ""},
		"no answer":                             {"0/0 0/0", ""},
		"one contradiction is nobody's":         {"1/1 0/100 0/100 0/100", ""},
		"alone":                                 {"10/10", ""},
		"two alike":                             {"10/10 10/10", ""},
		"one of two":                            {"8/8 0/8", "a"},
		"three of all are few":                  {"2/2 0/4 0/4", ""},
		"one lies always":                       {"3/3 0/5 0/5 0/5 0/5 0/5 0/5 0/5 0/5 0/5", "a"},
		"two accomplices of eight":              {"5/5 5/5 0/6 0/6 0/6 0/6 0/6 0/6", "a b"},
		"three who lie in half":                 {"5/10 5/10 5/10 0/12 0/12 0/12 0/12 0/12 0/12 0/12", "a b c"},
		"half of all":                           {"10/10 10/10 0/10 0/10", "a b"},
		"more than half":                        {"10/10 10/10 10/10 0/10 0/10", ""},
		"a liar among the unsteady":             {"10/10 1/10 0/10 1/10 0/10 1/10 0/10 1/10 0/10 1/10", "a"},
		"an unsteady one beside a liar":         {"10/10 1/10 0/10 0/10 0/10 0/10 0/10 0/10 0/10 0/10", "a"},
		"spread over the owners":                {"2/10 1/10 1/10 1/10 0/10 0/10 0/10 0/10 0/10 0/10", ""},
		"who answers more contradicts more":     {"6/120 0/10 0/10 1/10 0/10 0/10", ""},
		"a coin":                                {"5/10 6/10 4/10 7/10", ""},
		"new names that contradict once a name": {"1/1 1/1 1/1 0/20 0/20 0/20 0/20", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.beyond, strings.Join(verify.BeyondChance(handsOf(t, c.hands)), " "))
		})
	}
}

// TestBeyondChanceOfManyJobs: owners of a function that gives another answer in some of its runs are charged in less than one of 500 jobs, whatever
// that share is, and however often they are looked at.
func TestBeyondChanceOfManyJobs(t *testing.T) {
	t.Parallel()
	const jobs = 2000
	for _, unsteady := range []float64{0.01, 0.05, 0.2, 0.5} {
		dice := rand.New(rand.NewPCG(5, uint64(1000*unsteady)))
		accused := 0
		for range jobs {
			hands := make([]verify.ControlHand, 10)
			for i := range hands {
				hands[i].Hand = string(rune('a' + i))
			}
			charged := false
			for range 100 {
				h := &hands[dice.IntN(len(hands))]
				if h.Answers++; dice.Float64() < unsteady {
					h.Contradicted++
					charged = charged || len(verify.BeyondChance(hands)) > 0
				}
			}
			if charged {
				accused++
			}
		}
		t.Logf("%.0f %%: %d of %d jobs", 100*unsteady, accused, jobs)
		require.Less(t, accused, jobs/200, "%v", unsteady)
	}
}
