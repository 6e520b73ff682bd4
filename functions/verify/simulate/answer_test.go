package simulate

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions/verify"
)

// TestAnyWrongResultIsAsRareAsStated runs small jobs, each of them with one hostile agent in ten, and counts those with any wrong result.
func TestAnyWrongResultIsAsRareAsStated(t *testing.T) {
	const jobs = 400
	lies := []Population{
		{Name: "one lie", hostile: func(verify.Bound) behaviour {
			return func(s sight) (bool, answer) { return s.results == 7, own }
		}},
		{Name: "one lie, then back under a new name", hostile: func(verify.Bound) behaviour {
			return func(s sight) (bool, answer) { return s.results == 3, own }
		}, returning: true},
		{Name: "some lies", hostile: wrongWith(0.05)},
		{Name: "one lie, ten times as fast", hostile: func(verify.Bound) behaviour {
			return func(s sight) (bool, answer) { return s.results == 7, own }
		}, speed: 10},
	}
	for _, shards := range []int{20, 200, 400} {
		o := Default()
		o.Results, o.Agents = shards, 10
		stated := verify.AnswerRisk(o.TargetError, int64(shards))
		most := 0.0
		for _, p := range lies {
			wrong := 0
			for seed := range jobs {
				o.Seed = uint64(seed)
				if runCell(o, p, Rechecks).Wrong > 0 {
					wrong++
				}
			}
			measured := float64(wrong) / jobs
			t.Logf("%d shards, %s: any wrong in %.3f of the jobs, stated %.3f", shards, p.Name, measured, stated)
			chance := 3 * math.Sqrt(stated*(1-stated)/jobs) // three standard deviations
			require.LessOrEqual(t, measured, stated+chance, "%d shards, %s", shards, p.Name)
			most = max(most, measured)
		}
		if shards == 400 {
			require.Greater(t, most, stated/2, "what is stated is no exaggeration")
		}
	}
}
