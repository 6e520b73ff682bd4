package precheck

import (
	"fmt"
	"strings"
	"unicode"
)

// Rule names the bound or the promise that a module broke. Rules are stable:
// clients may switch on them.
type Rule string

// The rules.
const (
	RuleMagic        Rule = "magic"         // not a module, or an unknown version
	RuleComponent    Rule = "component"     // the component model's format
	RuleMalformed    Rule = "malformed"     // the bytes end early or contradict themselves
	RuleSize         Rule = "size"          // too many bytes
	RuleFeature      Rule = "feature"       // an instruction or type outside WebAssembly 2.0
	RuleTypes        Rule = "types"         // too many types, parameters or results
	RuleImport       Rule = "import"        // something the host does not offer
	RuleImportType   Rule = "import_type"   // a WASI function with another signature
	RuleFunctions    Rule = "functions"     // too many functions
	RuleBody         Rule = "body"          // a function body too large
	RuleLocals       Rule = "locals"        // too many locals
	RuleNesting      Rule = "nesting"       // blocks too deep
	RuleLoopNesting  Rule = "loop_nesting"  // loops too deep
	RuleBranchTable  Rule = "branch_table"  // a br_table too long
	RuleLoopLocals   Rule = "loop_locals"   // too many loops times locals
	RuleTable        Rule = "table"         // tables or element segments too large
	RuleTableGrow    Rule = "table_grow"    // the instruction table.grow
	RuleMemory       Rule = "memory"        // no memory, more than one, shared, or too large
	RuleGlobals      Rule = "globals"       // too many globals
	RuleData         Rule = "data"          // too many data segments
	RuleExports      Rule = "exports"       // too many exports, or one twice
	RuleExportStart  Rule = "export_start"  // no usable _start
	RuleStart        Rule = "start"         // a start section that names no usable function
	RuleExportMemory Rule = "export_memory" // no memory exported
)

// Refusal is why a module was refused. It is written for the module's author.
type Refusal struct {
	Rule  Rule
	Where string // the function, import or section; empty for the whole module
	What  string // what was found, and what is allowed
	// Offset is the place in the file, in bytes, where the reading stopped; 0
	// if the fault is not in one place.
	Offset int
}

// Error returns where and what in one line.
func (r *Refusal) Error() string {
	text := r.What
	if r.Where != "" {
		text = r.Where + ": " + text
	}
	if r.Offset > 0 {
		text = fmt.Sprintf("%s (offset %d)", text, r.Offset)
	}
	return text
}

// refuse ends the check; Check turns it into the error that it returns.
func refuse(rule Rule, where, format string, args ...any) {
	panic(&Refusal{Rule: rule, Where: where, What: fmt.Sprintf(format, args...)})
}

// maxShownName is how many runes of a module's own name a message repeats:
// names are the author's text and may be megabytes long.
const maxShownName = 80

// printable makes a name from a module safe to show in a terminal or a log.
func printable(name string) string {
	var b strings.Builder
	n := 0
	for _, c := range name {
		if n == maxShownName {
			b.WriteString("…")
			break
		}
		if !unicode.IsPrint(c) {
			c = '?'
		}
		b.WriteRune(c)
		n++
	}
	return b.String()
}
