// Command generate writes the part of ostraka.py that follows from openapi.yaml: the operations that the client calls, and the models of
// their answers. What it writes stands between two lines of that file, which is one file for whoever downloads it.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

const (
	begin = "# ---- generated from openapi.yaml by client/python/generate: change nothing by hand\n"
	end   = "# ---- end of what is generated\n"
	// most is how long a line is.
	most = 160
)

// operations are those that the client calls.
var operations = []string{
	"pushFunction", "submitJob", "getJob", "callFunction", "putObject", "getObject", "listShards", "getShard", "cancelJob", "explainJob", "streamResults",
}

// keywords are words of Python that occur as names of fields.
var keywords = []string{"from", "in", "is", "class", "global", "import", "if", "else", "for", "while", "with", "as", "not", "or", "and", "pass", "return"}

// renamed are the models whose names are those of classes that people use.
var renamed = map[string]string{"Job": "JobData"}

type schema struct {
	Ref        string             `yaml:"$ref"`
	Type       any                `yaml:"type"`
	Enum       []string           `yaml:"enum"`
	Items      *schema            `yaml:"items"`
	Properties map[string]*schema `yaml:"properties"`
	Required   []string           `yaml:"required"`
	Additional any                `yaml:"additionalProperties"`
}

type parameter struct {
	Name   string `yaml:"name"`
	In     string `yaml:"in"`
	Schema schema `yaml:"schema"`
}

type operation struct {
	ID         string      `yaml:"operationId"`
	Summary    string      `yaml:"summary"`
	Parameters []parameter `yaml:"parameters"`
	Responses  map[string]struct {
		Content map[string]struct {
			Schema schema `yaml:"schema"`
		} `yaml:"content"`
	} `yaml:"responses"`
	method, path string
}

type specification struct {
	Paths      map[string]map[string]operation `yaml:"paths"`
	Components struct {
		Schemas map[string]*schema `yaml:"schemas"`
	} `yaml:"components"`
}

func main() {
	err := errors.New("usage: generate OPENAPI CLIENT")
	if len(os.Args) == 3 {
		err = run(os.Args[1], os.Args[2])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "generating the Python client:", err)
		os.Exit(1)
	}
}

func run(openapi, client string) error {
	text, err := os.ReadFile(openapi)
	if err != nil {
		return err
	}
	var spec specification
	if err := yaml.Unmarshal(text, &spec); err != nil {
		return fmt.Errorf("reading %s: %w", openapi, err)
	}
	made, err := generate(&spec)
	if err != nil {
		return err
	}
	before, err := os.ReadFile(client)
	if err != nil {
		return err
	}
	head, rest, found := bytes.Cut(before, []byte(begin))
	_, tail, ended := bytes.Cut(rest, []byte(end))
	if !found || !ended {
		return fmt.Errorf("%s has no place for what is generated", client)
	}
	return os.WriteFile(client, slices.Concat(head, []byte(begin+"\n"+made+"\n"), []byte(end), tail), 0o644)
}

func generate(spec *specification) (string, error) {
	all := map[string]operation{}
	for path, methods := range spec.Paths {
		for method, o := range methods {
			o.method, o.path = strings.ToUpper(method), path
			all[o.ID] = o
		}
	}
	g := &generator{spec: spec}
	var calls strings.Builder
	for _, id := range operations {
		o, there := all[id]
		if !there {
			return "", fmt.Errorf("there is no operation %s", id)
		}
		calls.WriteString(g.call(o))
	}
	var models strings.Builder
	written := 0
	for written < len(g.wanted) { // writing one may want others
		name := g.wanted[written]
		written++
		model, err := g.model(name, spec.Components.Schemas[name])
		if err != nil {
			return "", err
		}
		models.WriteString(model)
	}
	return models.String() + "\n" + strings.TrimRight(calls.String(), "\n") + "\n", nil
}

type generator struct {
	spec   *specification
	wanted []string // models, in the order in which they came up
}

// call writes the function that makes the request of an operation.
func (g *generator) call(o operation) string {
	answer := "bytes"
	for status, r := range o.Responses {
		if media, is := r.Content["application/json"]; is && strings.HasPrefix(status, "2") {
			answer = g.kind(&media.Schema)
		}
	}
	var path, query []string
	for _, p := range o.Parameters {
		switch p.In {
		case "path":
			path = append(path, snake(p.Name)+": str")
		case "query":
			query = append(query, snake(p.Name)+": Any = None")
		}
	}
	if len(query) > 0 {
		path = append(append(path, "*"), query...)
	}
	pattern := regexp.MustCompile(`\{([a-z_]+)\}`)
	var b strings.Builder
	fmt.Fprintf(&b, "def _%s(%s) -> _Request[%q]:\n    %q\n", snake(o.ID), strings.Join(path, ", "), answer, o.Summary)
	fmt.Fprintf(&b, "    return _Request(%q, f\"%s\"", o.method, pattern.ReplaceAllStringFunc(o.path, func(p string) string { return "{_quoted(" + p[1:len(p)-1] + ")}" }))
	for _, p := range o.Parameters {
		if p.In == "query" {
			fmt.Fprintf(&b, ", %s=%s", p.Name, snake(p.Name))
		}
	}
	b.WriteString(")\n\n\n")
	return b.String()
}

// model writes an object as a dictionary with types: those that must be there first.
func (g *generator) model(name string, s *schema) (string, error) {
	if s == nil {
		return "", fmt.Errorf("there is no schema %s", name)
	}
	var there, perhaps []string
	keys := make([]string, 0, len(s.Properties))
	for k := range s.Properties {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		entry := fmt.Sprintf("%q: %q", k, g.kind(s.Properties[k]))
		if slices.Contains(s.Required, k) {
			there = append(there, entry)
		} else {
			perhaps = append(perhaps, entry)
		}
	}
	python := pythonName(name)
	if slices.ContainsFunc(keys, func(k string) bool { return slices.Contains(keywords, k) }) { // a class has no such fields: they are all optional then
		return fmt.Sprintf("%s = TypedDict(%q, {%s}, total=False)\n\n\n", python, python, folded(append(there, perhaps...))), nil
	}
	if len(perhaps) == 0 {
		return fmt.Sprintf("%s = TypedDict(%q, {%s})\n\n\n", python, python, folded(there)), nil
	}
	base := "_" + strings.TrimPrefix(python, "_") + "Always"
	var b strings.Builder
	fmt.Fprintf(&b, "%s = TypedDict(%q, {%s})\n", base, base, folded(there))
	fmt.Fprintf(&b, "\n\nclass %s(%s, total=False):\n", python, base)
	for _, k := range keys {
		if !slices.Contains(s.Required, k) {
			fmt.Fprintf(&b, "    %s: %q\n", k, g.kind(s.Properties[k]))
		}
	}
	return b.String() + "\n\n", nil
}

// folded puts entries on lines of a bounded length.
func folded(entries []string) string {
	line, all := "", ""
	for i, e := range entries {
		if i < len(entries)-1 {
			e += ", "
		}
		if len(line)+len(e) > most-20 {
			all, line = all+strings.TrimRight(line, " ")+"\n    ", ""
		}
		line += e
	}
	return all + line
}

// kind is the type of a value in Python.
func (g *generator) kind(s *schema) string {
	if name, is := strings.CutPrefix(s.Ref, "#/components/schemas/"); is {
		return g.named(name)
	}
	kind, _ := s.Type.(string)
	switch {
	case len(s.Enum) > 0:
		quoted := make([]string, len(s.Enum))
		for i, v := range s.Enum {
			quoted[i] = "'" + v + "'"
		}
		return "Literal[" + strings.Join(quoted, ", ") + "]"
	case kind == "string":
		return "str"
	case kind == "integer":
		return "int"
	case kind == "number":
		return "float"
	case kind == "boolean":
		return "bool"
	case kind == "array" && s.Items != nil:
		return "List[" + g.kind(s.Items) + "]"
	case kind == "object":
		return "Dict[str, Any]"
	}
	return "Any"
}

// named is a schema with a name: an object becomes a model, what lists a few words is said in place.
func (g *generator) named(name string) string {
	s := g.spec.Components.Schemas[name]
	if s == nil || len(s.Properties) == 0 {
		if s == nil {
			return "Any"
		}
		return g.kind(s)
	}
	if !slices.Contains(g.wanted, name) {
		g.wanted = append(g.wanted, name)
	}
	return pythonName(name)
}

func pythonName(name string) string {
	if other, is := renamed[name]; is {
		name = other
	}
	return "_" + name
}

// snake writes a name as Python does.
func snake(name string) string {
	return strings.ToLower(regexp.MustCompile(`([a-z0-9])([A-Z])`).ReplaceAllString(name, "${1}_$2"))
}
