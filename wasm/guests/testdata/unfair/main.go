// Unfair is an aggregator that does what many a first try does: it averages
// averages, so that its final depends on how pages were cut.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
)

type line struct {
	Phase  string
	N      int64
	Result float64
	Data   float64
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Scan()
	var header line
	_ = json.Unmarshal(lines.Bytes(), &header)
	if header.Phase == "describe" {
		os.Exit(64)
	}
	var n int64
	var sum, count float64
	for lines.Scan() {
		var l line
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			os.Exit(65)
		}
		if header.Phase == "leaf" {
			l.N, l.Data = 1, l.Result
		}
		n, sum, count = n+l.N, sum+l.Data, count+1
	}
	kind := "partial"
	if header.Phase == "final" {
		kind = "final"
	}
	fmt.Printf(`{"t":%q,"n":%d,"data":%g}`+"\n", kind, n, sum/max(count, 1))
}
