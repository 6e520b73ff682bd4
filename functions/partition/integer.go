package partition

import (
	"fmt"
	"math/big"
	"strings"
)

// maxBits is the length of the largest number of MaxDigits digits: an exponent
// is refused before a power is computed that could not fit.
const maxBits = MaxDigits*3322/1000 + 1

// parseInteger reads what a person types for a whole number:
//
//	integer = [ "-" ] term [ ( "+" | "-" ) term ]
//	term    = digits [ "^" digits ]
//
// so 18446744073709551616, -5, 2^64, 10^18-1 and 2^64+10^6. White space is
// allowed around terms. A leading minus belongs to the whole first term:
// -2^2 is -4.
func parseInteger(field, text string) (*big.Int, error) {
	rest := strings.TrimSpace(text)
	rest, negative := strings.CutPrefix(rest, "-")
	first, second, operator := cutOperator(rest)
	sum, err := parseTerm(field, text, first)
	if err != nil {
		return nil, err
	}
	if negative {
		sum.Neg(sum)
	}
	if operator != 0 {
		term, err := parseTerm(field, text, second)
		if err != nil {
			return nil, err
		}
		if operator == '-' {
			term.Neg(term)
		}
		sum.Add(sum, term)
	}
	if digits(sum) > MaxDigits {
		return nil, tooLong(field)
	}
	return sum, nil
}

func cutOperator(text string) (first, second string, operator byte) {
	i := strings.IndexAny(text, "+-")
	if i < 0 {
		return text, "", 0
	}
	return text[:i], text[i+1:], text[i]
}

func parseTerm(field, whole, text string) (*big.Int, error) {
	base, exponent, isPower := strings.Cut(strings.TrimSpace(text), "^")
	value, err := parseDigits(field, whole, strings.TrimSpace(base))
	if err != nil || !isPower {
		return value, err
	}
	power, err := parseDigits(field, whole, strings.TrimSpace(exponent))
	if err != nil {
		return nil, err
	}
	// A base of b bits is at least 2^(b-1), so its power has at least
	// (b-1)·exponent bits.
	if !power.IsInt64() || power.Int64() > maxBits || int64(value.BitLen()-1)*power.Int64() > maxBits {
		return nil, tooLong(field)
	}
	return value.Exp(value, power, nil), nil
}

func parseDigits(field, whole, text string) (*big.Int, error) {
	if text == "" || strings.Trim(text, "0123456789") != "" {
		return nil, notAnInteger(field, whole)
	}
	if len(text) > MaxDigits {
		return nil, tooLong(field)
	}
	value, ok := new(big.Int).SetString(text, 10)
	if !ok {
		return nil, notAnInteger(field, whole)
	}
	return value, nil
}

// parseDecimal reads the JSON form: an optional minus and digits, no sugar.
func parseDecimal(field, text string) (*big.Int, error) {
	unsigned, negative := strings.CutPrefix(text, "-")
	value, err := parseDigits(field, text, unsigned)
	if err != nil {
		return nil, err
	}
	if negative {
		value.Neg(value)
	}
	return value, nil
}

// digits counts the decimal digits of x, without its sign.
func digits(x *big.Int) int {
	return len(strings.TrimPrefix(x.String(), "-"))
}

func tooLong(field string) error {
	return &Error{
		Code:   CodeIntegerTooLong,
		Field:  field,
		Detail: fmt.Sprintf("the number has more than %d digits", MaxDigits),
		Hint:   "use a smaller number",
	}
}

func notAnInteger(field, text string) error {
	return &Error{
		Code:   CodeNotAnInteger,
		Field:  field,
		Detail: quoted(text) + " is not a whole number",
		Hint:   "write decimal digits such as 18446744073709551616; on the command line also 2^64 or 2^64+10^6",
	}
}
