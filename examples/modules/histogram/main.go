// Histogram is an aggregator that a project's owner could upload: it counts the
// results in buckets of one numeric field.
//
//	GOOS=wasip1 GOARCH=wasm go build -o histogram.wasm .
//
// Parameters: {"field": "ms", "width": 10}. Without a field, the results
// themselves must be numbers. Nothing of Ostraka is imported: a module reads
// lines of JSON and writes lines of JSON.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
)

// Exit codes of the contract.
const (
	exitUnsupported = 64
	exitBadInput    = 65
)

const description = `{"t":"describe","name":"histogram","version":"1.0.0","kinds":["aggregator"],"associative":true,"summary":"how many results are in each bucket of one number","params":{"type":"object","additionalProperties":false,"properties":{"field":{"type":"string","description":"field of the results; left out: the results are numbers"},"width":{"type":"number","exclusiveMinimum":0,"default":1}},"examples":[{"field":"ms","width":10}]}}`

type header struct {
	Kind   string `json:"kind"`
	Phase  string `json:"phase"`
	Params params `json:"params"`
}

type params struct {
	Field string  `json:"field"`
	Width float64 `json:"width"`
}

// record is any line after the header.
type record struct {
	T      string          `json:"t"`
	N      int64           `json:"n"`
	Result json.RawMessage `json:"result"`
	Data   histogram       `json:"data"`
}

// histogram is what a partial carries: how many results are in each bucket, by
// the bucket's lower bound, and how many have no number.
type histogram struct {
	Buckets map[string]int64 `json:"buckets"`
	Other   int64            `json:"other"`
}

func main() {
	in := bufio.NewReaderSize(os.Stdin, 64<<10)
	var h header
	if err := readLine(in, &h); err != nil {
		fail(exitBadInput, "header: %v", err)
	}
	if h.Kind != "aggregator" {
		fail(exitUnsupported, "this module is an aggregator, not a %s", h.Kind)
	}
	if h.Phase == "describe" {
		fmt.Println(description)
		return
	}
	if h.Params.Width == 0 {
		h.Params.Width = 1
	}
	n, total := int64(0), histogram{Buckets: map[string]int64{}}
	for number := 1; ; number++ {
		var r record
		err := readLine(in, &r)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			fail(exitBadInput, "record %d: %v", number, err)
		}
		if r.T == "item" {
			n++
			total.count(r.Result, h.Params)
		} else {
			n += r.N
			total.merge(r.Data)
		}
	}
	write(h.Phase, n, total)
}

// readLine reads one line of JSON; io.EOF after the last one.
func readLine(in *bufio.Reader, v any) error {
	line, err := in.ReadBytes('\n')
	if len(line) == 0 {
		return err
	}
	return json.Unmarshal(line, v)
}

func (h *histogram) count(result json.RawMessage, p params) {
	value := result
	if p.Field != "" {
		var fields map[string]json.RawMessage
		_ = json.Unmarshal(result, &fields) // not an object: no such field
		value = fields[p.Field]
	}
	var x *float64
	if json.Unmarshal(value, &x) != nil || x == nil {
		h.Other++
		return
	}
	h.Buckets[fmt.Sprint(math.Floor(*x/p.Width)*p.Width)]++
}

func (h *histogram) merge(other histogram) {
	for bucket, n := range other.Buckets {
		h.Buckets[bucket] += n
	}
	h.Other += other.Other
}

func write(phase string, n int64, total histogram) {
	out := json.NewEncoder(os.Stdout) // sorts the buckets, so equal input gives equal bytes
	var err error
	switch phase {
	case "leaf", "merge":
		err = out.Encode(map[string]any{"t": "partial", "n": n, "data": total})
	case "final":
		summary := fmt.Sprintf("%d results in %d buckets, %d without a number", n, len(total.Buckets), total.Other)
		err = out.Encode(map[string]any{"t": "final", "n": n, "data": total.Buckets, "summary": summary})
	default:
		fail(exitUnsupported, "phase %s is not known", phase)
	}
	if err != nil {
		fail(1, "writing the answer: %v", err)
	}
}

func fail(code int, format string, args ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", args...)
	os.Exit(code)
}
