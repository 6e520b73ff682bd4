package partition

import (
	"fmt"
	"math/big"
	"slices"
)

const (
	// ChosenShards is how many shards a range is cut into at most by default: enough for many agents, few enough
	// that one takes longer than handing it out.
	ChosenShards = 1000
	// ChosenLineBytes is how much text makes a shard by default. As JSON it stays below MaxItemBytes, though every line were empty.
	ChosenLineBytes = 20_000
	// ChosenItems is how many items, or integers, make a shard by default where the function takes them one by one, so that each leaves a
	// result in the shard's output: few enough for the default limits, unless an item takes a second.
	ChosenItems = 100
	// ChosenSeconds is how long a shard is to take where it is known how long others took: between 1 and 10 seconds, whatever is rounded.
	ChosenSeconds = 3
	// MaxChosenShards is into how many shards an input is cut at most by default: a larger one gets larger ones, as far as items and lines fit.
	MaxChosenShards = 1_000_000
	// MaxGrowth is how many times as large as shards that were measured others are made: what a few integers took says little of many, and
	// agents state their times themselves.
	MaxGrowth = 1000
	// MaxShrink is how many times as small as by the first guess they are made at most: else agents that state long times would make each
	// job's shards smaller than those of the job before, without an end.
	MaxShrink = 100
)

// Measured is what the shards of an earlier job took, which were of the size that its Spec says, but for the last one.
type Measured struct {
	Spec        Spec
	Seconds     float64 // that one took
	OutputBytes float64 // that one gave
}

// Bounds are what shards of a chosen size keep to.
type Bounds struct {
	Seconds     float64 // that one is to take
	OutputBytes float64 // that it may give, where its output grows with its size; 0: it does not
}

// factor is how many times as large as the measured shards others are to be.
func (m Measured) factor(b Bounds) float64 {
	f := min(b.Seconds/m.Seconds, MaxGrowth)
	if b.OutputBytes > 0 && m.OutputBytes > 0 {
		f = min(f, b.OutputBytes/m.OutputBytes)
	}
	return f
}

// Resize gives a Spec shards of a size that follows from what others of its kind took: in one digit, so that people can read it, at least 1
// and the MaxShrink-th part of the size that the Spec has as a first guess, and of a range no more than MaxChosenShards of them. Of a Spec of another kind, of files or of a grid, it leaves the size as it is.
func (s Spec) Resize(m Measured, b Bounds) Spec {
	if s.Kind != m.Spec.Kind || m.Seconds <= 0 {
		return s
	}
	scaled := func(size int64) int64 { return Scaled(big.NewInt(size), m.factor(b)).Int64() }
	switch {
	case s.Kind == KindRange:
		size, least := Scaled(m.Spec.Range.first(), m.factor(b)), ceilDiv(s.Range.Size, big.NewInt(MaxShrink))
		if size.Cmp(least) < 0 {
			size = least
		}
		s.Range.Size = s.Range.atLeast(size)
	case s.Kind == KindItems:
		s.Size = min(max(scaled(max(m.Spec.Size, 1)), s.Size/MaxShrink), MaxItemsPerShard)
	case s.Kind == KindLines && m.Spec.Lines.Bytes > 0:
		s.Lines.Bytes = min(max(scaled(m.Spec.Lines.Bytes), s.Lines.Bytes/MaxShrink), ChosenLineBytes)
	}
	return s
}

// Larger gives a Spec of items, or of a text, shards ten times as large, as far as they fit; false: they are as large as they get.
func (s Spec) Larger() (Spec, bool) {
	const times = 10
	switch {
	case s.Kind == KindItems && s.Size > 0 && s.Size < MaxItemsPerShard:
		s.Size = min(times*s.Size, MaxItemsPerShard)
	case s.Kind == KindLines && s.Lines.Bytes > 0 && s.Lines.Bytes < ChosenLineBytes:
		s.Lines.Bytes = min(times*s.Lines.Bytes, ChosenLineBytes)
	default:
		return s, false
	}
	return s, true
}

// first is how many integers the first shard has: of a range that is shorter than its size, all.
func (r Range) first() *big.Int {
	size := new(big.Int).Sub(r.To, r.From)
	if size.Cmp(r.Size) > 0 {
		size.Set(r.Size)
	}
	return size
}

// atLeast is a size, or a larger one if the range had more than MaxChosenShards shards of it.
func (r Range) atLeast(size *big.Int) *big.Int {
	least := ceilDiv(new(big.Int).Sub(r.To, r.From), big.NewInt(MaxChosenShards))
	if size.Cmp(least) < 0 {
		return least
	}
	return size
}

// ForItems is the first guess at the shards of a function that takes items one by one.
func (s Spec) ForItems() Spec {
	switch s.Kind {
	case KindRange:
		if most := big.NewInt(ChosenItems); s.Range.Size.Cmp(most) > 0 {
			s.Range.Size = s.Range.atLeast(most)
		}
	case KindItems:
		s.Size = ChosenItems
	default: // a text has bytes already
	}
	return s
}

// HasItems says why a function cannot take the shards' items one by one: a shard has none.
func (s Spec) HasItems() error {
	if !slices.Contains([]Kind{KindRange, KindLines, KindItems}, s.Kind) {
		return &Error{
			Code: CodePartitionKind, Field: "kind",
			Detail: fmt.Sprintf(`a function with per = "item" needs a range, lines, or items, and this is the kind %s`, s.Kind),
			Hint:   `write the combinations or names into a file, one JSON value a line, and give it as items; or take per = "item" out, so that the function gets shards`,
		}
	}
	return nil
}

// Scaled is a size times a factor, in one digit and zeros, rounded down; at least 1.
func Scaled(size *big.Int, factor float64) *big.Int {
	exact := new(big.Float).Mul(new(big.Float).SetInt(size), big.NewFloat(factor))
	n, _ := exact.Add(exact, big.NewFloat(0.5)).Int(nil) // 29.99… is 30
	unit, ten := big.NewInt(1), big.NewInt(10)
	for new(big.Int).Quo(n, unit).Cmp(ten) >= 0 {
		unit.Mul(unit, ten)
	}
	n.Mul(n.Quo(n, unit), unit)
	if n.Sign() <= 0 {
		return big.NewInt(1)
	}
	return n
}

// ParseRangeOfAnySize is ParseRange without a size of the shards: the size is chosen.
func ParseRangeOfAnySize(text string) (Range, error) {
	return sizeChosen(ParseRange(text, hugeSize()))
}

// RangeOfAnySize is the same of bounds that programs write: decimal strings.
func RangeOfAnySize(from, to string) (Range, error) {
	return sizeChosen(parseRange(from, to, hugeSize(), parseDecimal))
}

// hugeSize has all of a range be checked but the number of its shards.
func hugeSize() string {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(MaxDigits-1), nil).String()
}

func sizeChosen(r Range, err error) (Range, error) {
	if err != nil {
		return Range{}, err
	}
	r.Size = ChooseSize(r.From, r.To)
	return r, r.Validate()
}

// ChooseSize is the size of the shards of [from, to) by default: the smallest of 1, 2, 5, 10, 20, 50, … that makes no more than
// ChosenShards of them. An empty range has size 1.
func ChooseSize(from, to *big.Int) *big.Int {
	length := new(big.Int).Sub(to, from)
	for unit := big.NewInt(1); ; unit.Mul(unit, big.NewInt(10)) {
		for _, digit := range []int64{1, 2, 5} {
			size := new(big.Int).Mul(unit, big.NewInt(digit))
			if new(big.Int).Mul(size, big.NewInt(ChosenShards)).Cmp(length) >= 0 {
				return size
			}
		}
	}
}
