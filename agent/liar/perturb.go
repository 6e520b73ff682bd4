package liar

import (
	"math/big"
	"strconv"
)

// integer is where an integer stands in a document.
type integer struct{ start, end int }

// integers finds the integers of a canonical JSON document, outside its strings.
func integers(doc []byte) []integer {
	var found []integer
	for i := 0; i < len(doc); {
		switch c := doc[i]; {
		case c == '"':
			i = skipString(doc, i)
		case c == '-' || c >= '0' && c <= '9':
			end, whole := skipNumber(doc, i)
			if whole {
				found = append(found, integer{i, end})
			}
			i = end
		default:
			i++
		}
	}
	return found
}

func skipString(doc []byte, i int) int {
	for i++; i < len(doc) && doc[i] != '"'; i++ {
		if doc[i] == '\\' {
			i++
		}
	}
	return i + 1
}

func skipNumber(doc []byte, i int) (end int, whole bool) {
	whole = true
	for ; i < len(doc); i++ {
		switch c := doc[i]; {
		case c >= '0' && c <= '9', c == '-', c == '+':
		case c == '.', c == 'e', c == 'E':
			whole = false
		default:
			return i, whole
		}
	}
	return i, whole
}

// perturb makes a wrong answer out of a right one: it adds to one of its integers, or where there is none answers with an
// integer. The result is canonical JSON again, and never what it was.
func perturb(doc []byte, random uint64) []byte {
	delta := big.NewInt(int64(random%1000) + 1)
	all := integers(doc)
	if len(all) == 0 {
		return strconv.AppendUint(nil, random, 10)
	}
	at := all[random/1000%uint64(len(all))]
	value, ok := new(big.Int).SetString(string(doc[at.start:at.end]), 10)
	if !ok { // not JSON after all
		return strconv.AppendUint(nil, random, 10)
	}
	out := append([]byte(nil), doc[:at.start]...)
	out = value.Add(value, delta).Append(out, 10)
	return append(out, doc[at.end:]...)
}
