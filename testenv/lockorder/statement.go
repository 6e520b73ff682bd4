package lockorder

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Taken is a lock that a statement takes.
type Taken struct {
	Name  string
	Waits bool // for who has it; it may skip what is locked instead
}

var (
	comment   = regexp.MustCompile(`--[^\n]*`)
	updated   = regexp.MustCompile(`(^|[^a-z_] *)update\s+(?:only\s+)?([a-z_.]+)`)
	deleted   = regexp.MustCompile(`delete\s+from\s+([a-z_.]+)`)
	selected  = regexp.MustCompile(`for\s+(?:no\s+key\s+)?update(?:\s+of\s+([a-z_]+))?(\s+skip\s+locked|\s+nowait)?`)
	from      = regexp.MustCompile(`from\s+([a-z_.]+)`)
	byName    = regexp.MustCompile(`pg_advisory_xact_lock\(hashtextextended\('([a-z_. ]+)`)
	advisory  = map[string]string{"audits": "audits of a job", "ostraka.webhooks": "webhooks' deliveries", "ostraka.rechecks": "the gate of rechecks"}
	notTables = []string{"of", "skip", "nowait", "set"}
)

// read are the statements whose locks are known already, by their text, for all watches of a test binary: a program has some hundred statements
// and its tests ask them a million times. It is global because what a text says is the same everywhere.
var read sync.Map

// known is Locks, found out once for each text.
func known(sql string) []Taken {
	found, is := read.Load(sql)
	if !is {
		found, _ = read.LoadOrStore(sql, Locks(sql))
	}
	list, _ := found.([]Taken) // nothing else is kept
	return list
}

// Locks are what a statement locks and others wait for, in the order of its text.
func Locks(sql string) (list []Taken) {
	text := comment.ReplaceAllString(strings.ToLower(sql), "")
	add := func(name string, waits bool) {
		name = strings.TrimPrefix(name, "ostraka.")
		if !slices.Contains(notTables, name) {
			list = append(list, Taken{name, waits})
		}
	}
	for _, m := range byName.FindAllStringSubmatch(text, -1) {
		add(advisory[strings.TrimSpace(m[1])], true)
	}
	for _, m := range selected.FindAllStringSubmatchIndex(text, -1) {
		alias, skips := "", m[4] >= 0
		if m[2] >= 0 {
			alias = text[m[2]:m[3]]
		}
		add(tableOf(text[:m[0]], alias), !skips)
	}
	for _, m := range updated.FindAllStringSubmatchIndex(text, -1) {
		if before := strings.Fields(text[:m[4]-len("update")-1]); len(before) > 0 && slices.Contains([]string{"for", "key", "do"}, before[len(before)-1]) {
			continue
		}
		add(text[m[4]:m[5]], true)
	}
	for _, m := range deleted.FindAllStringSubmatch(text, -1) {
		add(m[1], true)
	}
	for i, part := range strings.Split(text, "insert into ") {
		if i > 0 && strings.Contains(part, "do update") {
			add(strings.Fields(part)[0], true)
		}
	}
	return list
}

// tableOf is the table that has a name in what stands before; without one the last that was named after from.
func tableOf(before, alias string) string {
	name := from
	if alias != "" {
		name = regexp.MustCompile(`(?:from|join|,)\s+([a-z_.]+)\s+(?:as\s+)?` + alias + `\b`)
	}
	all := name.FindAllStringSubmatch(before, -1)
	if len(all) == 0 {
		return alias
	}
	return all[len(all)-1][1]
}
