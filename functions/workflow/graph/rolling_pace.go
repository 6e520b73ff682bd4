package graph

import (
	"math"
	"math/big"
	"slices"
	"time"
)

// MaxMarks is how many points of the way that a rolling step has come are kept, for its pace.
const MaxMarks = 32

// Mark is how many integers were done at a time.
type Mark struct {
	At   time.Time `json:"at"`
	Done *big.Int  `json:"done"`
}

// AddMark adds a point. Where there are too many every other one goes, so that they reach as far back as ever and the newest are the closest.
func AddMark(marks []Mark, m Mark) []Mark {
	marks = append(slices.Clone(marks), m)
	if len(marks) <= MaxMarks {
		return marks
	}
	kept := marks[:0]
	for i, mark := range marks {
		if i%2 == 0 || i == len(marks)-1 {
			kept = append(kept, mark)
		}
	}
	return kept
}

// Pace is how fast a rolling step goes, and when it will be through: between Earliest and Latest if it continues as it did, but for the fastest
// and the slowest tenth of the time.
type Pace struct {
	PerSecond float64
	Usual     time.Time
	Earliest  time.Time
	Latest    time.Time
}

// longestWay is beyond what dates are told of, in seconds: a hundred years.
const longestWay = 100 * 366 * 24 * 3600

// PaceOf is the pace by the marks, with so many integers left. Times that cannot be told, or that are a century away, are zero.
func PaceOf(marks []Mark, left *big.Int, now time.Time) (p Pace) {
	if len(marks) < 2 {
		return p
	}
	first, last := marks[0], marks[len(marks)-1]
	took := now.Sub(first.At).Seconds()
	if took <= 0 {
		return p
	}
	p.PerSecond = ratio(new(big.Int).Sub(last.Done, first.Done), took)
	slow, fast := spread(marks)
	p.Usual = through(left, p.PerSecond, now)
	p.Earliest = through(left, max(fast, p.PerSecond), now)
	p.Latest = through(left, min(slow, p.PerSecond), now)
	return p
}

// spread is the pace of the slowest and of the fastest stretches between marks, but for a tenth of the time at each end.
func spread(marks []Mark) (slow, fast float64) {
	type stretch struct{ pace, seconds float64 }
	var list []stretch
	total := 0.0
	for i := 1; i < len(marks); i++ {
		if seconds := marks[i].At.Sub(marks[i-1].At).Seconds(); seconds > 0 {
			list = append(list, stretch{ratio(new(big.Int).Sub(marks[i].Done, marks[i-1].Done), seconds), seconds})
			total += seconds
		}
	}
	if len(list) == 0 {
		return 0, 0
	}
	slices.SortFunc(list, func(a, b stretch) int {
		if a.pace < b.pace {
			return -1
		}
		return 1
	})
	slow, fast = list[0].pace, list[len(list)-1].pace
	below := 0.0
	for _, s := range list {
		if below <= total/10 {
			slow = s.pace
		}
		if below < total*9/10 {
			fast = s.pace
		}
		below += s.seconds
	}
	return slow, fast
}

func ratio(n *big.Int, seconds float64) float64 {
	f, _ := new(big.Float).SetInt(n).Float64()
	return f / seconds
}

// through is when so many integers are done at a pace.
func through(left *big.Int, pace float64, now time.Time) time.Time {
	if left.Sign() == 0 {
		return now
	}
	seconds := math.Inf(1)
	if pace > 0 {
		seconds = ratio(left, pace)
	}
	if seconds > longestWay {
		return time.Time{}
	}
	return now.Add(time.Duration(seconds * float64(time.Second)))
}
