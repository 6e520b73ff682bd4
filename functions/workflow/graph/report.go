package graph

import (
	"encoding/json"
	"path"
	"slices"
	"strings"
)

// ReportStep makes a document out of what the steps before it came to: by a function, which is a job of one shard, or by a module.
type ReportStep struct {
	Function string // as [functions] names it
	File     string // of the shard's files, the one that is the document; "": what the function returns
	Policy   Policy
	Priority int
	Module   string         // an aggregator, which folds one record
	Params   map[string]any // of the module, with placeholders
}

func (t stepTable) reportStep(s Step) (r ReportStep, err error) {
	r = ReportStep{Function: t.Function, File: t.File, Module: t.Module, Params: t.Params, Priority: t.Priority}
	if t.Policy != nil {
		r.Policy = *t.Policy
	}
	allowed := []string{"function", "file", "policy", "priority"}
	if t.Function == "" {
		allowed = []string{"module", "params"}
	}
	if err := t.only(s, allowed...); err != nil {
		return r, err
	}
	switch {
	case (r.Function == "") == (r.Module == ""):
		return r, wrong(s.field("function"), "name a function of the workflow, or a module of the kind aggregator", "a step of the type report has either a function or a module")
	case len(s.Needs) == 0:
		return r, wrong(s.field("needs"), `write for example needs = ["search"]`, "a step of the type report needs the steps that it tells of")
	}
	return r, cmpErrors(checkPriority(s, r.Priority), checkLocal(s.field("file"), r.File))
}

// ReportParams makes the parameters of the module of a report; nil: there are none.
func (s Step) ReportParams(values Values) (json.RawMessage, error) {
	left := MaxExpandedBytes
	return s.params(s.Report.Params, values, &left)
}

// checkLocal wants a path within a folder, or none.
func checkLocal(field, name string) error {
	if name == "" {
		return nil
	}
	if len(name) > MaxPathBytes || path.IsAbs(name) || path.Clean(name) != name || strings.ContainsAny(name, "\\\x00") || slices.Contains(strings.Split(name, "/"), "..") {
		return wrong(field, `write for example "page.html"`, "%s is no path within a folder", brief(name))
	}
	return checkText(field, name)
}

func checkPriority(s Step, priority int) error {
	if priority < 0 || priority > 9 {
		return wrong(s.field("priority"), "choose 1 to 9, or leave it out", "the priority is %d", priority)
	}
	return nil
}

// cmpErrors is the first of some errors; nil: there is none.
func cmpErrors(all ...error) error {
	for _, err := range all {
		if err != nil {
			return err
		}
	}
	return nil
}
