package main

import (
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// tomlLines says in which line of a document each section and each key begins, by its whole name. The library keeps places in this package
// alone; its decoder has none of values that are of another type than we want.
func tomlLines(content []byte) map[string]int {
	lines := map[string]int{}
	p := unstable.Parser{}
	p.Reset(content)
	section := ""
	for p.NextExpression() {
		e := p.Expression()
		switch e.Kind {
		case unstable.Table, unstable.ArrayTable:
			section = noteLine(lines, &p, "", e.Key())
		case unstable.KeyValue:
			name := noteLine(lines, &p, section, e.Key())
			noteInline(lines, &p, name, e.Value())
		default: // comments
		}
	}
	return lines
}

// noteLine notes where a key, which may have dots, stands below a section, and returns its whole name.
func noteLine(lines map[string]int, p *unstable.Parser, name string, key unstable.Iterator) string {
	for key.Next() {
		part := key.Node()
		name = strings.TrimPrefix(name+"."+string(part.Data), ".")
		if lines[name] == 0 {
			lines[name] = p.Shape(part.Raw).Start.Line
		}
	}
	return name
}

// noteInline notes the keys of a table that stands in one line.
func noteInline(lines map[string]int, p *unstable.Parser, name string, value *unstable.Node) {
	if value.Kind != unstable.InlineTable {
		return
	}
	for members := value.Children(); members.Next(); {
		member := members.Node()
		noteInline(lines, p, noteLine(lines, p, name, member.Key()), member.Value())
	}
}
