// Refine is a planner in Go: it looks where the aggregate's least and greatest
// value lie and asks for more points between them, until they are close or it
// has planned often enough.
//
//	GOOS=wasip1 GOARCH=wasm go build -o refine.wasm .
//
// Parameters: {"points": 8, "tolerance": 0.01, "rounds": 5}. The aggregate must
// be an object with the numbers "least" and "greatest", such as stats makes.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
)

// Exit codes of the contract.
const (
	exitUnsupported = 64
	exitBadInput    = 65
)

const description = `{"t":"describe","name":"refine","version":"1.0.0","kinds":["planner"],"summary":"more points between the least and the greatest value","params":{"type":"object","additionalProperties":false,"properties":{"points":{"type":"integer","minimum":1,"maximum":1000,"default":8},"tolerance":{"type":"number","exclusiveMinimum":0,"default":0.01},"rounds":{"type":"integer","minimum":1,"default":5}}}}`

type header struct {
	Phase  string `json:"phase"`
	Round  int    `json:"round"`
	Budget struct {
		Units int `json:"units"`
	} `json:"budget"`
	Params struct {
		Points    int     `json:"points"`
		Tolerance float64 `json:"tolerance"`
		Rounds    int     `json:"rounds"`
	} `json:"params"`
}

// record is the aggregate, or a unit that is done.
type record struct {
	T    string `json:"t"`
	N    int64  `json:"n"`
	Data *struct {
		Least    *float64 `json:"least"`
		Greatest *float64 `json:"greatest"`
	} `json:"data"`
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(make([]byte, 64<<10), 8<<20)
	var h header
	if !lines.Scan() || json.Unmarshal(lines.Bytes(), &h) != nil {
		fail(exitBadInput, "there is no header")
	}
	switch h.Phase {
	case "describe":
		fmt.Println(description)
		return
	case "run":
	default:
		fail(exitUnsupported, "phase "+h.Phase+" is not known")
	}
	defaults(&h)
	var final record
	for lines.Scan() {
		var r record
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			fail(exitBadInput, err.Error())
		}
		if r.T == "final" {
			final = r
		}
	}
	plan(h, final)
}

func defaults(h *header) {
	if h.Params.Points == 0 {
		h.Params.Points = 8
	}
	if h.Params.Tolerance == 0 {
		h.Params.Tolerance = 0.01
	}
	if h.Params.Rounds == 0 {
		h.Params.Rounds = 5
	}
}

func plan(h header, final record) {
	switch {
	case final.Data == nil || final.Data.Least == nil || final.Data.Greatest == nil:
		stop("the aggregate has no least and greatest value")
		return
	case h.Round >= h.Params.Rounds:
		stop(fmt.Sprintf("planned %d times", h.Round))
		return
	}
	least, width := *final.Data.Least, *final.Data.Greatest-*final.Data.Least
	if width <= h.Params.Tolerance {
		stop(fmt.Sprintf("converged to %g within %g", least, width))
		return
	}
	points := min(h.Params.Points, h.Budget.Units)
	for i := range points {
		x := least + width*float64(i+1)/float64(points+1)
		write(map[string]any{"t": "unit", "key": fmt.Sprintf("x=%g", x), "input": map[string]any{"x": x}})
	}
}

func stop(reason string) { write(map[string]any{"t": "stop", "reason": reason}) }

func write(v any) {
	if err := json.NewEncoder(os.Stdout).Encode(v); err != nil {
		fail(1, err.Error())
	}
}

func fail(code int, why string) {
	fmt.Fprintln(os.Stderr, why)
	os.Exit(code)
}
