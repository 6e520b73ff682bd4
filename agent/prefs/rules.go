package prefs

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ostraka/ostraka/guardian"
	"github.com/ostraka/ostraka/runtime/bundle"
)

const (
	// MaxRules is how many rules of their own an owner may have: all are looked at before each function.
	MaxRules = guardian.MaxRules
	// MaxOverrides is how many exceptions an owner may make at a time.
	MaxOverrides = 100
)

// keysOfTheGuardian are the owner's rules about functions, and the owner's exceptions from what the built-in ones ask.
func keysOfTheGuardian() []Key {
	return []Key{
		{
			Name: "rules", About: "rules about functions, decided before anything of them runs (docs/guardian.md); as tables [[rules]], or on one line",
			Example: `[{name = "no-tools", when = 'findings.exists(f, f.rule == "process")', then = "deny", reason = "nothing starts programs here"}]`, kind: tables,
			read: func(p *Preferences, value any) (err error) {
				p.Rules, err = each(value, MaxRules, readRule)
				if err == nil {
					_, err = guardian.NewPolicy(p.Rules...)
				}
				return err
			},
			show: func(p *Preferences) string {
				return namesOf(p.Rules, func(c *guardian.Compiled) string { return c.Rule().Name })
			},
		},
		{
			Name: "overrides", About: "exceptions from what a built-in rule asks, each with a reason and an end; what a built-in rule denies stays denied",
			Example: `[{rule = "ask-scanner", subject = "survey", reason = "my own project", until = 2027-01-01T00:00:00Z}]`, kind: tables,
			read: func(p *Preferences, value any) (err error) {
				p.Overrides, err = each(value, MaxOverrides, readOverride)
				return err
			},
			show: func(p *Preferences) string {
				return namesOf(p.Overrides, func(v guardian.Override) string { return v.Rule })
			},
		},
	}
}

func namesOf[T any](list []T, name func(T) string) string {
	if len(list) == 0 {
		return ""
	}
	return listOf(list, name)
}

// each reads a list of tables.
func each[T any](value any, most int, read func(table) (T, error)) ([]T, error) {
	items, ok := value.([]any)
	if !ok || len(items) == 0 || len(items) > most {
		return nil, fmt.Errorf("write 1 to %d tables, or leave them out", most)
	}
	list := make([]T, len(items))
	for i, item := range items {
		values, ok := item.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("number %d is no table: write it as {name = …}, or below [[…]]", i+1)
		}
		var err error
		if list[i], err = read(table{values, map[string]bool{}}); err != nil {
			return nil, fmt.Errorf("number %d: %w", i+1, err)
		}
	}
	return list, nil
}

// table is a table of the file; what is never asked for is a mistake.
type table struct {
	values map[string]any
	asked  map[string]bool
}

func (t table) text(name string) (string, error) {
	t.asked[name] = true
	value, there := t.values[name]
	if s, ok := value.(string); ok || !there {
		return s, nil
	}
	return "", fmt.Errorf("%s: write a text in quotes", name)
}

func (t table) number(name string) (int64, error) {
	t.asked[name] = true
	value, there := t.values[name]
	if n, ok := value.(int64); !there || ok && n > 0 {
		return n, nil
	}
	return 0, fmt.Errorf("%s: write a whole number from 1, without quotes", name)
}

func (t table) size(name string) (int64, error) {
	if s, ok := t.values[name].(string); ok {
		t.asked[name] = true
		n, err := bundle.ParseBytes(s)
		if err != nil || n < 1 {
			return 0, fmt.Errorf(`%s: write a size such as "512Mi"`, name)
		}
		return n, nil
	}
	return t.number(name)
}

func (t table) time(name string) (time.Time, error) {
	t.asked[name] = true
	value, there := t.values[name]
	if at, ok := value.(time.Time); ok || !there {
		return at, nil
	}
	return time.Time{}, fmt.Errorf("%s: write a time such as 2027-01-01T00:00:00Z, without quotes", name)
}

// rest refuses keys that were not read.
func (t table) rest() error {
	for _, name := range slices.Sorted(maps.Keys(t.values)) {
		if !t.asked[name] {
			return fmt.Errorf("%q means nothing here: there are %s", name, strings.Join(slices.Sorted(maps.Keys(t.asked)), ", "))
		}
	}
	return nil
}

// texts reads several texts; what is wrong with any of them is an error.
func (t table) texts(names []string, into ...*string) error {
	var err error
	for i, name := range names {
		var wrong error
		*into[i], wrong = t.text(name)
		err = errors.Join(err, wrong)
	}
	return err
}

// readRule reads a rule of the machine's owner. It is about opening a sandbox: there is nothing else that an agent decides.
func readRule(t table) (*guardian.Compiled, error) {
	r := guardian.Rule{Version: 1, Layer: guardian.OwnerLayer, On: []guardian.Kind{guardian.SandboxOpen}, Enabled: true}
	var risk, then string
	if err := t.texts([]string{"name", "when", "risk", "then", "reason"}, &r.Name, &r.When, &risk, &then, &r.Reason); err != nil {
		return nil, err
	}
	r.ID, r.Risk, r.Then = r.Name, guardian.Risk(risk), guardian.Verdict(then)
	t.asked["conditions"] = true
	if value, there := t.values["conditions"]; there {
		values, ok := value.(map[string]any)
		if !ok {
			return nil, errors.New("conditions: write a table such as {isolation = \"container\"}")
		}
		var err error
		if r.Conditions, err = readConditions(table{values, map[string]bool{}}); err != nil {
			return nil, fmt.Errorf("conditions: %w", err)
		}
	}
	if err := t.rest(); err != nil {
		return nil, err
	}
	c, err := guardian.Compile(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.Name, err)
	}
	return c, nil
}

// readConditions reads those conditions that an agent can hold a lease to.
func readConditions(t table) (c guardian.Conditions, err error) {
	var wrong [7]error
	c.Isolation, wrong[0] = t.text("isolation")
	c.CPUSeconds, wrong[1] = t.number("cpu_seconds")
	c.WallSeconds, wrong[2] = t.number("wall_seconds")
	c.MemoryBytes, wrong[3] = t.size("memory_bytes")
	c.Pids, wrong[4] = t.number("pids")
	c.Shards, wrong[5] = t.number("shards")
	c.ValidUntil, wrong[6] = t.time("valid_until")
	return c, errors.Join(errors.Join(wrong[:]...), t.rest())
}

func readOverride(t table) (v guardian.Override, err error) {
	v = guardian.Override{Layer: guardian.Builtin, Kinds: []guardian.Kind{guardian.SandboxOpen}, By: "the machine's owner"}
	if err := t.texts([]string{"rule", "subject", "reason"}, &v.Rule, &v.Subject, &v.Reason); err != nil {
		return v, err
	}
	if v.Until, err = t.time("until"); err != nil {
		return v, err
	}
	v.ID = v.Rule
	if err := t.rest(); err != nil {
		return v, err
	}
	switch {
	case !asks(v.Rule):
		return v, fmt.Errorf("rule: there is no built-in rule %q that asks; what one denies cannot be lifted", v.Rule)
	case strings.TrimSpace(v.Reason) == "":
		return v, errors.New("reason: say why, so that you know later")
	case v.Until.IsZero():
		return v, errors.New("until: an exception has an end, such as 2027-01-01T00:00:00Z")
	}
	return v, nil
}

func asks(name string) bool {
	return slices.ContainsFunc(guardian.Defaults(), func(r guardian.Rule) bool { return r.Name == name && r.Then == guardian.Ask })
}
