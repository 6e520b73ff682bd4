package verify_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions/verify"
)

const redrawJob = "01a20052-0f0b-7723-86c4-b07d6b8e85ba"

// drawn is an honest server: two agents give every second result each, some are drawn at once, the others are gathered in windows of 500,
// of which 20 are drawn.
func drawn(secret []byte) (all []verify.Stated) {
	pools := map[string][]int64{}
	at := map[int64]int{}
	for shard := range int64(4000) {
		agent, rate := []string{"ada", "bob"}[shard%2], verify.RateOf(verify.LiveRate)
		if shard < 200 {
			rate = verify.RateOf(verify.ProbationRate)
		}
		s := verify.Stated{Shard: shard, Agent: agent, Rate: rate, Drawn: verify.Draw(secret, redrawJob, shard, agent, rate)}
		if !s.Drawn {
			pools[agent] = append(pools[agent], shard)
			s.Window = int64(len(pools[agent])-1)/500 + 1
		}
		at[shard] = len(all)
		all = append(all, s)
	}
	for agent, pool := range pools {
		for i, window := range slices.Collect(slices.Chunk(pool, 500)) {
			for _, shard := range verify.Choose(secret, redrawJob, agent, int64(i)+1, window, 20) {
				all[at[shard]].Drawn = true
			}
		}
	}
	return all
}

func repeat(secret []byte, all []verify.Stated) (verify.Redrawn, error) {
	r := verify.NewRedraw(secret, redrawJob, false)
	for _, s := range all {
		if err := r.Repeat(s); err != nil {
			return r.Redrawn, err
		}
	}
	return r.Redrawn, nil
}

func TestDrawsAreRepeated(t *testing.T) {
	t.Parallel()
	secret := verify.JobSecret([]byte("project"), redrawJob)
	all := drawn(secret)
	seen, err := repeat(secret, all)
	require.NoError(t, err)
	require.Positive(t, seen.AtOnce)
	require.EqualValues(t, 4000, seen.AtOnce+seen.Gathered)
	require.EqualValues(t, 8, seen.Windows)
	require.EqualValues(t, 8*20, seen.OfWindow)
	require.EqualValues(t, 100, seen.Least)
	require.EqualValues(t, 500, seen.Most)
	slices.Reverse(all)
	again, err := repeat(secret, all)
	require.NoError(t, err)
	require.Equal(t, seen, again, "in any order")
}

// TestAnyDrawThatIsChangedIsNamed turns each of a server's draws round: one that was chosen by somebody shows.
func TestAnyDrawThatIsChangedIsNamed(t *testing.T) {
	t.Parallel()
	secret := verify.JobSecret([]byte("project"), redrawJob)
	sound := drawn(secret)
	for i := range sound {
		if i%7 > 0 && sound[i].Window > 0 && !sound[i].Drawn {
			continue
		}
		all := slices.Clone(sound)
		all[i].Drawn = !all[i].Drawn
		_, err := repeat(secret, all)
		if sound[i].Window > 0 && sound[i].Drawn && last(secret, sound, i) {
			require.NoError(t, err, "one less was drawn of the window: which ones follows from how many")
			continue
		}
		if sound[i].Window > 0 && !sound[i].Drawn && next(secret, sound, i) {
			require.NoError(t, err, "one more was drawn of the window")
			continue
		}
		require.ErrorContains(t, err, "shard ", "shard %d, %+v", i, sound[i])
	}
	_, err := repeat(verify.JobSecret([]byte("another"), redrawJob), sound)
	require.Error(t, err)
}

// ofWindow are the shards of a result's window in the order of the draw.
func ofWindow(secret []byte, all []verify.Stated, i int) []int64 {
	var pool []int64
	for _, s := range all {
		if s.Agent == all[i].Agent && s.Window == all[i].Window {
			pool = append(pool, s.Shard)
		}
	}
	return verify.Choose(secret, redrawJob, all[i].Agent, all[i].Window, pool, len(pool))
}

func last(secret []byte, all []verify.Stated, i int) bool {
	return ofWindow(secret, all, i)[19] == all[i].Shard
}

func next(secret []byte, all []verify.Stated, i int) bool {
	order := ofWindow(secret, all, i)
	return len(order) > 20 && order[20] == all[i].Shard
}

func TestDrawsOfAQuorumAreRepeated(t *testing.T) {
	t.Parallel()
	secret := verify.JobSecret([]byte("project"), redrawJob)
	r := verify.NewRedraw(secret, redrawJob, true)
	first := int64(-1)
	for shard := range int64(1000) {
		rate := verify.RateOf(0.01)
		server := verify.Draw(secret, redrawJob, shard, verify.QuorumAgent, rate)
		if server && first < 0 {
			first = shard
		}
		require.NoError(t, r.Repeat(verify.Stated{Shard: shard, Rate: rate, Server: server}))
	}
	require.Positive(t, r.AtOnce)
	require.EqualValues(t, 1000, r.Quorum)
	require.ErrorContains(t, r.Repeat(verify.Stated{Shard: first, Rate: 100}), "no server has executed it")
	require.ErrorContains(t, r.Repeat(verify.Stated{Shard: first, Rate: 100, Window: 1}), "is in no window")
	require.NoError(t, r.Repeat(verify.Stated{Shard: first, Rate: 100, Tolerant: true}), "the server may have had other bytes that are the same to the validator")
	require.ErrorContains(t, r.Repeat(verify.Stated{Shard: first, Rate: 100, Window: 1, Tolerant: true}), "is in no window")
}

func TestRates(t *testing.T) {
	t.Parallel()
	for share, want := range map[float64]verify.Rate{0: 0, 0.01: 100, 0.05: 500, 0.1: 1000, 0.5: 5000, 1: 10_000, 7: 10_000, -1: 0, 1e-9: 1, 0.010001: 101} {
		require.Equal(t, want, verify.RateOf(share), share)
	}
	require.InDelta(t, verify.LiveRate, verify.RateOf(verify.LiveRate).Share(), 0, "the same number to the last bit")
	for _, bad := range []verify.Stated{{Rate: 0}, {Rate: verify.EveryResult + 1}, {Rate: 1, Window: -1}, {Rate: -5}} {
		require.ErrorContains(t, verify.NewRedraw(nil, redrawJob, false).Repeat(bad), "is none")
	}
	require.NotEqual(t, verify.JobSecret([]byte("a"), "j"), verify.JobSecret([]byte("a"), "k"))
	require.NotEqual(t, verify.JobSecret([]byte("a"), "j"), verify.JobSecret([]byte("b"), "j"))
}
