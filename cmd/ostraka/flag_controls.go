package main

import (
	"encoding/json"
	"fmt"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/client"
)

// flagControls are the controls that a flag of kind controls is about: its detail, as review.FlagControls has it.
type flagControls struct {
	Total int64         `json:"total"`
	Items []flagControl `json:"items"`
}

type flagControl struct {
	Control     int    `json:"control"`
	LentAsShard int64  `json:"lent_as_shard"`
	OwnShard    bool   `json:"own_shard"`
	Input       string `json:"input"`
	Known       string `json:"known"`
	KnownSHA256 string `json:"known_sha256"`
	Answers     []struct {
		Agent        uuid.UUID `json:"agent"`
		Status       string    `json:"status"`
		Output       string    `json:"output"`
		OutputSHA256 string    `json:"output_sha256"`
	} `json:"answers"`
}

// controlStates say what became of the controls of a flag, by its rule.
var controlStates = map[string]string{
	"void":      "not believed: owners agree on other answers than the known ones, and nobody is charged",
	"unsettled": "found nothing out: somebody gave another answer, and too few others gave any; nobody is charged",
}

// controlsOfFlag are the controls that a flag is about, if any.
func controlsOfFlag(f client.FlagDetail) (list flagControls, own bool) {
	if f.Kind != "controls" || json.Unmarshal(f.Detail, &list) != nil {
		return list, false
	}
	return list, len(list.Items) > 0
}

// printFlagControls prints the controls that a flag is about: which of the file they are, what was known, and what agents said.
func printFlagControls(t *terminal, f client.FlagDetail, names agentNames) {
	list, own := controlsOfFlag(f)
	if !own {
		return
	}
	t.put("\n%s %s\n", count(list.Total, "control"), firstOf(controlStates[f.Rule], plain(f.Rule)))
	for _, c := range list.Items {
		t.put("\n  %s\n    input  %s\n    known  %s\n", c.place(), plain(cut(c.Input)), plain(cut(firstOf(c.Known, "SHA-256 "+c.KnownSHA256))))
		for _, a := range c.Answers {
			said := firstOf(a.Output, "SHA-256 "+a.OutputSHA256)
			if a.Status != "ok" {
				said = a.Status
			}
			t.put("    given  %s, by %s\n", plain(cut(said)), plain(names.of(a.Agent)))
		}
	}
	if more := list.Total - int64(len(list.Items)); more > 0 {
		t.put("\n  and %d more\n", more)
	}
}

// place says which control of the file it is, and where it was lent.
func (c flagControl) place() string {
	name := fmt.Sprintf("control %d", c.Control)
	if c.Control == 0 {
		name = "a control"
	}
	if c.OwnShard {
		return fmt.Sprintf("%s: shard %d of the job", name, c.LentAsShard)
	}
	return fmt.Sprintf("%s: lent as shard %d", name, c.LentAsShard)
}
