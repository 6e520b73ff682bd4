// Counts the palindromes among the integers of a range: a command for WASI. The shard's input is one line of JSON on standard input,
// {"from":"...","to":"..."}, and the result one JSON value on standard output. It must be the same for the same input.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
)

func main() {
	var shard struct {
		From uint64 `json:"from,string"`
		To   uint64 `json:"to,string"`
	}
	if err := json.NewDecoder(os.Stdin).Decode(&shard); err != nil {
		fail("the input must be {\"from\":\"...\",\"to\":\"...\"}: " + err.Error())
	}
	if shard.To < shard.From {
		fail("the range is reversed")
	}
	palindromes := 0
	for n := shard.From; n < shard.To; n++ {
		if isPalindrome(strconv.FormatUint(n, 10)) {
			palindromes++
		}
	}
	fmt.Printf("{\"palindromes\":%d,\"tested\":%d}\n", palindromes, shard.To-shard.From)
}

func isPalindrome(digits string) bool {
	for i := range len(digits) / 2 {
		if digits[i] != digits[len(digits)-1-i] {
			return false
		}
	}
	return true
}

func fail(why string) {
	fmt.Fprintln(os.Stderr, why)
	os.Exit(1)
}
