package simulate

import (
	"math/rand/v2"

	"github.com/ostraka/ostraka/functions/verify"
)

// inTail lies as often as harms most, but only when nearly all of the job is leased:
// windows of its end are not full.
func inTail(from float64) func(verify.Bound) behaviour {
	return func(b verify.Bound) behaviour {
		worst := worstRate(b)
		return func(s sight) (bool, answer) {
			if s.done < from {
				return false, right
			}
			return worst(s)
		}
	}
}

// afterAudit lies in the first results after each audit that it has passed: it
// knows by an insider when that was.
func afterAudit(lies int) func(verify.Bound) behaviour {
	return func(verify.Bound) behaviour {
		return func(s sight) (bool, answer) { return s.since >= 0 && s.since < lies, own }
	}
}

// whenTrusted is honest until it is looked at less closely, then always lies until
// it is caught, and so on.
func whenTrusted(verify.Bound) behaviour {
	return func(s sight) (bool, answer) { return s.trusted, own }
}

// whenTrustedTogether does so with accomplices, who back the lie where they see it.
func whenTrustedTogether(verify.Bound) behaviour {
	return func(s sight) (bool, answer) {
		for _, v := range s.others {
			if v.answer == shared {
				return true, shared
			}
		}
		return len(s.others) == 0 && s.trusted, shared
	}
}

// whereItMatters lies only about one shard in so many.
func whereItMatters(one int32) func(verify.Bound) behaviour {
	return func(verify.Bound) behaviour {
		return func(s sight) (bool, answer) { return matters(s.shard, one), shared }
	}
}

// matters says whether a shard is the one in so many that matters.
func matters(n, one int32) bool {
	x := uint64(n)*0x9e3779b97f4a7c15 + 0x632be59bd9b4e019
	x ^= x >> 31
	x *= 0xbf58476d1ce4e5b9
	return (x>>29)%uint64(one) == 0
}

// claimingTimeouts never computes, and says that it ran out of time.
func claimingTimeouts(verify.Bound) behaviour {
	return func(sight) (bool, answer) { return true, timeout }
}

// once tells one lie, as its nth result.
func once(nth int) func(verify.Bound) behaviour {
	return func(verify.Bound) behaviour {
		return func(s sight) (bool, answer) { return s.results == nth, own }
	}
}

// varies and above are the answers of functions that do not give one answer.
const varies answer = 1 << 24

// oneOf gives each of so many answers as often.
func oneOf(answers int) func(*rand.Rand, int32) answer {
	return func(dice *rand.Rand, _ int32) answer { return varies + answer(dice.IntN(answers)) }
}

// rounded gives the same answer but for one time in 33, where noise rounds it to a
// neighbour.
func rounded(dice *rand.Rand, _ int32) answer {
	const noise = 0.03
	if dice.Float64() >= noise {
		return varies
	}
	return varies + 1 + answer(dice.IntN(2))
}

// setOrder prints a set. In every second shard it has three elements, whose order
// each process draws; in the others one.
func setOrder(dice *rand.Rand, n int32) answer {
	if n%2 == 0 {
		return varies
	}
	return varies + answer(dice.IntN(6))
}

// clock never gives the same answer twice.
func clock(dice *rand.Rand, _ int32) answer {
	return varies + answer(dice.Int32N(1<<30))
}

// Attacks lists further populations. `make bench-trust` has them all.
func Attacks() []Population {
	list := []Population{
		{Name: "tail", About: "wrong as often as harms most, in the last fiftieth of the job only", hostile: inTail(0.98)},
		{Name: "tail-returning", About: "the same; new name when caught", hostile: inTail(0.98), returning: true},
		{Name: "after-audit", About: "lies once after each audit that it has passed, which an insider tells", hostile: afterAudit(1)},
		{Name: "after-audit-3", About: "lies three times after each audit that it has passed; new name when caught", hostile: afterAudit(3), returning: true},
		{Name: "hold-and-flood", About: "holds all that it is lent, reports it at once, wrong as often as harms most; new name", hostile: worstRate, returning: true, holds: true},
		{Name: "targeted-1000", About: "wrong only about the one shard in 1,000 that matters", hostile: whereItMatters(1000), targets: 1000},
		{Name: "targeted-10000", About: "wrong only about the one shard in 10,000 that matters", hostile: whereItMatters(10_000), targets: 10_000},
		{Name: "time-outs", About: "computes nothing, and says that it ran out of time", hostile: claimingTimeouts},
		{Name: "captured", About: "gets nine in ten of all further attempts at a shard, wrong in 1 %, alike", hostile: colluding(0.01), captures: 0.9},
		{Name: "captured-tenth", About: "the same, wrong in 10 %", hostile: colluding(0.1), captures: 0.9},
		{Name: "invented-owners", About: "under ever new invented owners, wrong in 1 %, all alike", hostile: colluding(0.01), returning: true, strangers: true},
		{Name: "trusted-then-lies", About: "behaves until it is trusted, then lies until it is caught; again and again", hostile: whenTrusted},
		{Name: "trusted-colluding", About: "the same, with accomplices who back the lie", hostile: whenTrustedTogether},
	}
	return append(list, Unstable()...)
}

// Unstable lists populations of agents that mean well, with functions that do not
// give one answer: nothing is right or wrong then.
func Unstable() []Population {
	return []Population{
		{Name: "coin", About: "honest, and the function throws a coin", hostile: honest, fair: true, unstable: oneOf(2)},
		{Name: "die", About: "honest, and the function throws a die", hostile: honest, fair: true, unstable: oneOf(6)},
		{Name: "rounded-noise", About: "honest, and noise changes 3 % of the rounded answers", hostile: honest, fair: true, unstable: rounded},
		{Name: "set-order", About: "honest, and the function prints sets, of one element in every second shard", hostile: honest, fair: true, unstable: setOrder},
		{Name: "clock", About: "honest, and the function reads the clock", hostile: honest, fair: true, unstable: clock},
	}
}
