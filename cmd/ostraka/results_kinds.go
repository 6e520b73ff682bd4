package main

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
)

// kinds are the kinds of values that were seen in a column.
type kinds uint8

const (
	kindNull    kinds = 1 << iota
	kindInteger       // a whole number that a double holds too
	kindLong          // a whole number of 64 bits that a double may not hold
	kindNumber        // a number that a double holds
	kindTrue          // true or false
	kindText
	kindOther // arrays, objects, and numbers that neither holds
)

const (
	// doubleDigits are the digits of a number that a double tells from its neighbours; one with more is not what was written.
	doubleDigits = 17
	// maxExact is the largest whole number up to which a double holds all.
	maxExact = 1 << 53
)

// kindOf is the kind of a value.
func kindOf(value json.RawMessage) kinds {
	switch {
	case len(value) == 0 || string(value) == "null":
		return kindNull
	case value[0] == '"':
		return kindText
	case value[0] == 't' || value[0] == 'f':
		return kindTrue
	case value[0] == '{' || value[0] == '[':
		return kindOther
	}
	return kindOfNumber(string(value))
}

func kindOfNumber(text string) kinds {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		if n > maxExact || n < -maxExact {
			return kindLong
		}
		return kindInteger
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(f, 0) || digits(text) > doubleDigits {
		return kindOther
	}
	return kindNumber
}

// digits counts the digits of a number that are not zeros in front.
func digits(text string) (n int) {
	mantissa := text
	if i := bytes.IndexAny([]byte(text), "eE"); i >= 0 {
		mantissa = text[:i]
	}
	for _, d := range mantissa {
		if d >= '1' && d <= '9' || d == '0' && n > 0 {
			n++
		}
	}
	return n
}
