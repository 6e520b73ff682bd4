package partition

import "math/big"

const (
	// ChosenShards is how many shards a range is cut into at most by default: enough for many agents, few enough
	// that one takes longer than handing it out.
	ChosenShards = 1000
	// ChosenLineBytes is how much text makes a shard by default. As JSON it stays below MaxItemBytes, though every line were empty.
	ChosenLineBytes = 20_000
)

// ParseRangeOfAnySize is ParseRange without a size of the shards: the size is chosen.
func ParseRangeOfAnySize(text string) (Range, error) {
	huge := new(big.Int).Exp(big.NewInt(10), big.NewInt(MaxDigits-1), nil)
	r, err := ParseRange(text, huge.String()) // checks all but the number of shards
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
