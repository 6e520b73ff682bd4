package verify

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestWhatAnOwnerMayHoldFollowsWhatItHasBroughtBack(t *testing.T) {
	l := Loan{First: FirstLoan, Agents: 1}
	for _, want := range []int64{64, 128, 256, 512} {
		require.Equal(t, want, l.Free())
		l.Credit = CreditAfter(l.Credit, l.Free(), 0, FirstLoan)
	}
	l.Held = l.Free() - 1
	require.Equal(t, int64(1), l.Free())
	l.Held++
	require.Zero(t, l.Free())
	require.Zero(t, Loan{First: 1, Agents: 1, Held: 5}.Free())

	require.Equal(t, int64(3*FirstLoan), Loan{First: FirstLoan, Agents: 3}.Free(), "each machine begins")
	require.Equal(t, int64(FirstLoan-1), Loan{First: FirstLoan, Agents: 3, Credit: -1}.Free(), "after a loss the owner begins")
}

func TestWhoLosesWhatItWasLentBeginsWithOneShard(t *testing.T) {
	credit := CreditAfter(0, 0, FirstLoan, FirstLoan)
	require.Equal(t, int64(1), Loan{First: FirstLoan, Agents: 1, Credit: credit}.Free())
	for _, want := range []int64{2, 4, 8} {
		credit = CreditAfter(credit, want/2, 0, FirstLoan)
		require.Equal(t, want, Loan{First: FirstLoan, Agents: 1, Credit: credit}.Free())
	}
	require.Equal(t, int64(490), CreditAfter(1000, 0, 10, FirstLoan), "one who has brought much keeps half")
}

func TestPause(t *testing.T) {
	for idle, want := range map[int]time.Duration{
		0: 0, IdleLeases - 1: 0, IdleLeases: FirstPause, IdleLeases + 1: 2 * FirstPause, IdleLeases + 5: 32 * FirstPause, IdleLeases + 6: LongestPause, 1 << 20: LongestPause,
	} {
		require.Equal(t, want, Pause(idle), idle)
	}
}

func TestOpenLeases(t *testing.T) {
	for cores, want := range map[int]int{0: 16, 1: 16, 4: 16, 5: 20, 64: 256} {
		require.Equal(t, want, OpenLeases(cores))
	}
}

func TestLosesAgents(t *testing.T) {
	require.False(t, LosesAgents(1000, 10, 1, 2), "one owner keeps no shard from others")
	require.False(t, LosesAgents(1000, 10, 2, 20))
	require.False(t, LosesAgents(9, 10, 3, 3))
	require.True(t, LosesAgents(10, 10, 3, 20))
	require.True(t, LosesAgents(10, 10, 1, 1), "nobody else is there")
	require.True(t, LosesAgents(10, 10, 1, 0))
}

// Whatever an owner does: it may hold one shard at least, no more than it has brought back beyond the start, and a loss never pays.
func TestLoanProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		first := rapid.Int64Range(2, 1024).Draw(t, "first")
		credit, brought := int64(0), int64(0)
		for range rapid.IntRange(0, 30).Draw(t, "leases") {
			back, lost := rapid.Int64Range(0, 2000).Draw(t, "back"), rapid.Int64Range(0, 2000).Draw(t, "lost")
			next := CreditAfter(credit, back, lost, first)
			if next > credit+back || lost > 0 && next >= CreditAfter(credit, back, 0, first) && next > 1-first {
				t.Fatalf("%d, %d back, %d lost: %d", credit, back, lost, next)
			}
			credit, brought = next, brought+back
			free := Loan{First: first, Agents: 1, Credit: credit}.Free()
			if free < 1 || free > first+brought {
				t.Fatalf("%d free after %d brought back", free, brought)
			}
		}
	})
}

func TestUnconfirmed(t *testing.T) {
	require.False(t, Unconfirmed(MaxUnconfirmed-1, MaxUnconfirmed-1), "one fewer")
	require.True(t, Unconfirmed(MaxUnconfirmed, MaxUnconfirmed))
	require.True(t, Unconfirmed(MaxUnconfirmed, 2*MaxUnconfirmed), "half")
	require.False(t, Unconfirmed(MaxUnconfirmed, 2*MaxUnconfirmed+1))
}

func TestQuarantinedForClaims(t *testing.T) {
	for want, list := range map[bool][]Claims{
		true:  {{MaxClaims, MaxClaims, ClaimJobs}, {MaxClaims, 2 * MaxClaims, ClaimJobs}, {10 * MaxClaims, 10 * MaxClaims, 100}},
		false: {{}, {MaxClaims - 1, MaxClaims - 1, ClaimJobs}, {MaxClaims, MaxClaims, ClaimJobs - 1}, {MaxClaims, 2*MaxClaims + 1, ClaimJobs}},
	} {
		for _, c := range list {
			got, why := c.Quarantined()
			require.Equal(t, want, got, "%+v", c)
			require.Equal(t, want, why != "", "%+v", c)
		}
	}
	require.False(t, OK.IsClaim())
	require.False(t, Error.IsClaim(), "an exception is an answer")
	require.True(t, Timeout.IsClaim())
	require.True(t, Confirms(Timeout, Timeout))
	require.False(t, Confirms(Memory, Timeout))
	require.False(t, Confirms(Error, Error))
}
