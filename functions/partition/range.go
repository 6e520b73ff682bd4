package partition

import (
	"fmt"
	"math/big"
	"strings"
)

// Range is the half-open interval [From, To) of integers of any size, cut into
// shards of Size consecutive integers; the last shard may be shorter. The
// numbers are not changed after the Range is made, so it may be shared.
type Range struct {
	From, To *big.Int
	Size     *big.Int
}

// ParseRange reads what a person types: "FROM:TO" and a shard size. Each is a
// whole number, and besides plain digits 2^64, 10^18 and 2^64+1000000 are
// understood. The result is valid.
func ParseRange(text, size string) (Range, error) {
	from, to, ok := strings.Cut(text, ":")
	if !ok || strings.Contains(to, ":") {
		return Range{}, &Error{
			Code:   CodeRangeSyntax,
			Detail: quoted(text) + " is not a range",
			Hint:   "write FROM:TO, for example 2^64:2^64+1000000; TO itself is not included",
		}
	}
	if strings.TrimSpace(size) == "" {
		return Range{}, noSize()
	}
	return parseRange(from, to, size, parseInteger)
}

func parseRange(from, to, size string, parse func(field, text string) (*big.Int, error)) (Range, error) {
	var r Range
	for _, part := range []struct {
		field, text string
		into        **big.Int
	}{{"from", from, &r.From}, {"to", to, &r.To}, {"size", size, &r.Size}} {
		value, err := parse(part.field, part.text)
		if err != nil {
			return Range{}, err
		}
		*part.into = value
	}
	if err := r.Validate(); err != nil {
		return Range{}, err
	}
	return r, nil
}

// Validate says why a range cannot be cut into shards.
func (r Range) Validate() error {
	if r.From == nil || r.To == nil {
		return &Error{Code: CodeNotAnInteger, Detail: "a range needs from and to", Hint: "give both bounds as decimal strings"}
	}
	if r.Size == nil {
		return noSize()
	}
	if r.Size.Sign() <= 0 {
		return &Error{Code: CodeShardSize, Field: "size", Detail: "the shard size must be at least 1", Hint: "say how many integers one shard holds"}
	}
	if digits(r.From) > MaxDigits || digits(r.To) > MaxDigits || digits(r.Size) > MaxDigits {
		return tooLong("")
	}
	if err := r.validateBounds(); err != nil {
		return err
	}
	if count := r.count(); count.Cmp(big.NewInt(MaxShards)) > 0 {
		return r.tooManyShards(count)
	}
	return nil
}

func (r Range) validateBounds() error {
	switch r.From.Cmp(r.To) {
	case 0:
		return &Error{Code: CodeRangeEmpty, Detail: "the range is empty: from and to are equal", Hint: "to is not included, so it must be at least from + 1"}
	case 1:
		return &Error{Code: CodeRangeReversed, Detail: "the range is reversed: from is above to", Hint: "swap the bounds"}
	}
	return nil
}

func (r Range) tooManyShards(count *big.Int) error {
	length := new(big.Int).Sub(r.To, r.From)
	least := ceilDiv(length, big.NewInt(MaxShards))
	return &Error{
		Code:   CodeTooManyShards,
		Field:  "size",
		Detail: fmt.Sprintf("the range would have %s shards, and a job has at most %d", shown(count), MaxShards),
		Hint:   fmt.Sprintf("use a shard size of at least %s, or several jobs", shown(least)),
	}
}

// shown prints a number for a message, in full up to the length of a bound
// that a person can still read.
func shown(x *big.Int) string {
	if n := digits(x); n > 40 {
		return fmt.Sprintf("about 10^%d", n-1)
	}
	return x.String()
}

func noSize() error {
	return &Error{Code: CodeShardSize, Field: "size", Detail: "the shard size is missing", Hint: "say how many integers one shard holds"}
}

func ceilDiv(a, b *big.Int) *big.Int {
	quotient, rest := new(big.Int).QuoRem(a, b, new(big.Int))
	if rest.Sign() > 0 {
		quotient.Add(quotient, big.NewInt(1))
	}
	return quotient
}

func (r Range) count() *big.Int {
	return ceilDiv(new(big.Int).Sub(r.To, r.From), r.Size)
}

// Count returns the number of shards of a valid range.
func (r Range) Count() int64 { return r.count().Int64() }

// Bounds returns the half-open interval [from, to) of shard n. It panics when
// the range has no shard n, as an index past the end of a slice does.
func (r Range) Bounds(n int64) (from, to *big.Int) {
	from = big.NewInt(n)
	from.Mul(from, r.Size).Add(from, r.From)
	if n < 0 || from.Cmp(r.To) >= 0 {
		panic(fmt.Sprintf("partition: shard %d is outside the range", n))
	}
	to = new(big.Int).Add(from, r.Size)
	if to.Cmp(r.To) > 0 {
		to.Set(r.To)
	}
	return from, to
}

// Input returns the input of shard n: {"from":"…","to":"…"}, canonical JSON.
// It panics when the range has no shard n.
func (r Range) Input(n int64) []byte { return r.AppendInput(nil, n) }

// AppendInput appends the input of shard n to dst, for callers that make many.
func (r Range) AppendInput(dst []byte, n int64) []byte {
	from, to := r.Bounds(n)
	dst = append(dst, `{"from":"`...)
	dst = from.Append(dst, 10)
	dst = append(dst, `","to":"`...)
	dst = to.Append(dst, 10)
	return append(dst, `"}`...)
}
