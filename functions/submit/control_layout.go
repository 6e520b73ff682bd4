package submit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/runtime/canonical"
)

// An item is lent byte for byte, as the program of whoever made the file wrote it: Python puts spaces after commas and colons, escapes what is not ASCII,
// and keeps the order of keys. A control that comes with the request was written by another program. So it is written anew as an item of its shape is.

// layout is how an item is written: what JSON leaves to whoever writes it.
type layout struct {
	spaces map[string]string   // before and after what stands between values, by it
	orders map[string][]string // of the keys of objects, by the sorted keys
	marks  escapes
}

// escapes are which characters of strings are written as escapes. What was seen written as it is speaks against that.
type escapes struct {
	wide, wideAsIs   bool // beyond ASCII
	html, htmlAsIs   bool // < > &
	slash, slashAsIs bool
	upper            bool // hexadecimal digits
}

var escaped = regexp.MustCompile(`\\(u[0-9a-fA-F]{4}|.)`)

// see notes how the strings of an item are written.
func (e *escapes) see(item []byte) {
	for _, found := range escaped.FindAll(item, -1) {
		code := strings.ToLower(string(found[1:]))
		switch {
		case code == "/":
			e.slash = true
		case code == "u003c" || code == "u003e" || code == "u0026":
			e.html = true
		case len(code) == 5 && code > "u007f":
			e.wide = true
		}
		e.upper = e.upper || len(code) == 5 && code[1:] != string(found[2:])
	}
	plain := escaped.ReplaceAll(item, nil)
	e.wideAsIs = e.wideAsIs || slices.ContainsFunc(plain, func(b byte) bool { return b > 0x7f })
	e.htmlAsIs = e.htmlAsIs || bytes.ContainsAny(plain, "<>&")
	e.slashAsIs = e.slashAsIs || bytes.ContainsRune(plain, '/')
}

// or are the escapes of an item, and where it does not show them those of all.
func (e escapes) or(all escapes) escapes {
	return escapes{
		wide: e.wide || !e.wideAsIs && all.wide, html: e.html || !e.htmlAsIs && all.html,
		slash: e.slash || !e.slashAsIs && all.slash, upper: e.upper || all.upper,
	}
}

// node is a JSON value with the order of its keys.
type node struct {
	open  byte     // { or [; 0: it is text
	text  []byte   // as it is written
	keys  []string // of an object, as they are written
	inner []node
}

// reader reads a value that is known to be JSON, and notes the white space between its parts.
type reader struct {
	rest   []byte
	spaces map[string]string // nil: they are not asked for
}

// skip reads white space and notes where it stands.
func (r *reader) skip(where string) {
	trimmed := bytes.TrimLeft(r.rest, " \t\r\n")
	if _, known := r.spaces[where]; !known && r.spaces != nil {
		r.spaces[where] = string(r.rest[:len(r.rest)-len(trimmed)])
	}
	r.rest = trimmed
}

// word reads a string, a number or a name.
func (r *reader) word() []byte {
	n := 1
	if r.rest[0] == '"' {
		for ; r.rest[n] != '"'; n++ {
			if r.rest[n] == '\\' {
				n++
			}
		}
		n++
	} else {
		for n < len(r.rest) && !strings.ContainsRune(" \t\r\n,:]}", rune(r.rest[n])) {
			n++
		}
	}
	text := r.rest[:n]
	r.rest = r.rest[n:]
	return text
}

func (r *reader) value() node {
	if r.rest[0] != '{' && r.rest[0] != '[' {
		return node{text: r.word()}
	}
	n := node{open: r.rest[0]}
	closing := n.open + 2 // } and ] are two after { and [
	if r.rest = r.rest[1:]; bytes.TrimLeft(r.rest, " \t\r\n")[0] == closing {
		r.skip("empty " + string(n.open))
		r.rest = r.rest[1:]
		return n
	}
	r.skip("after " + string(n.open))
	for {
		if n.open == '{' {
			n.keys = append(n.keys, string(r.word()))
			r.skip("before :")
			r.rest = r.rest[1:]
			r.skip("after :")
		}
		n.inner = append(n.inner, r.value())
		if bytes.TrimLeft(r.rest, " \t\r\n")[0] == closing {
			r.skip("before " + string(closing))
			r.rest = r.rest[1:]
			return n
		}
		r.skip("before ,")
		r.rest = r.rest[1:]
		r.skip("after ,")
	}
}

func readNode(value []byte, spaces map[string]string) node {
	r := reader{rest: bytes.TrimSpace(value), spaces: spaces}
	return r.value()
}

// plainKeys are the keys of an object, as they are read.
func (n node) plainKeys() []string {
	keys := make([]string, len(n.keys))
	for i, k := range n.keys {
		keys[i] = plain([]byte(k))
	}
	return keys
}

func plain(text []byte) (s string) {
	_ = json.Unmarshal(text, &s) // it is a JSON string
	return s
}

// orderName names a set of keys.
func orderName(keys []string) string {
	sorted := slices.Sorted(slices.Values(keys))
	return fmt.Sprintf("%q", sorted)
}

func (n node) addOrders(orders map[string][]string) {
	if n.open == '{' {
		if keys := n.plainKeys(); orders[orderName(keys)] == nil {
			orders[orderName(keys)] = keys
		}
	}
	for _, inner := range n.inner {
		inner.addOrders(orders)
	}
}

// layoutOf is how an item is written.
func layoutOf(item []byte, all escapes) layout {
	l := layout{spaces: map[string]string{}, orders: map[string][]string{}}
	readNode(item, l.spaces).addOrders(l.orders)
	var own escapes
	own.see(item)
	l.marks = own.or(all)
	return l
}

// write writes a value in the layout.
func (l layout) write(out *bytes.Buffer, n node) {
	if n.open == 0 {
		l.writeText(out, n.text)
		return
	}
	open, closing := string(n.open), string(n.open+2)
	out.WriteString(open)
	if len(n.inner) == 0 {
		out.WriteString(l.spaces["empty "+open] + closing)
		return
	}
	out.WriteString(l.spaces["after "+open])
	for i, at := range l.order(n) {
		if i > 0 {
			out.WriteString(l.spaces["before ,"] + "," + l.spaces["after ,"])
		}
		if n.keys != nil {
			l.writeText(out, []byte(n.keys[at]))
			out.WriteString(l.spaces["before :"] + ":" + l.spaces["after :"])
		}
		l.write(out, n.inner[at])
	}
	out.WriteString(l.spaces["before "+closing] + closing)
}

// order are the places of a value's parts in the order in which they are written.
func (l layout) order(n node) []int {
	places := make([]int, len(n.inner))
	for i := range places {
		places[i] = i
	}
	if n.keys == nil {
		return places
	}
	keys := n.plainKeys()
	if order := l.orders[orderName(keys)]; order != nil {
		slices.SortFunc(places, func(a, b int) int { return slices.Index(order, keys[a]) - slices.Index(order, keys[b]) })
	}
	return places
}

// short are the characters that have escapes of their own.
var short = map[rune]string{'"': `\"`, '\\': `\\`, '\n': `\n`, '\r': `\r`, '\t': `\t`, '\b': `\b`, '\f': `\f`}

func (l layout) writeText(out *bytes.Buffer, text []byte) {
	if text[0] != '"' {
		out.Write(text)
		return
	}
	out.WriteByte('"')
	for _, c := range plain(text) {
		switch {
		case short[c] != "":
			out.WriteString(short[c])
		case c == '/' && l.marks.slash:
			out.WriteString(`\/`)
		case c < 0x20 || c > 0x7f && l.marks.wide || strings.ContainsRune("<>&", c) && l.marks.html:
			l.writeCode(out, c)
		default:
			out.WriteRune(c)
		}
	}
	out.WriteByte('"')
}

func (l layout) writeCode(out *bytes.Buffer, c rune) {
	format := `\u%04x`
	if l.marks.upper {
		format = `\u%04X`
	}
	for _, unit := range utf16.Encode([]rune{c}) {
		fmt.Fprintf(out, format, unit)
	}
}

// writtenAs is a control's input, written as an item of the job is; ok is false where that cannot be done.
func writtenAs(input, item []byte, all escapes) (written []byte, ok bool) {
	if !json.Valid(input) || !json.Valid(item) {
		return nil, false
	}
	l := layoutOf(item, all)
	var same, out bytes.Buffer
	if l.write(&same, readNode(item, nil)); !bytes.Equal(same.Bytes(), item) {
		return nil, false
	}
	l.write(&out, readNode(input, nil))
	return out.Bytes(), sameValue(out.Bytes(), input)
}

func sameValue(a, b []byte) bool {
	x, err := canonical.Form(a, partition.MaxItemBytes)
	if err != nil {
		return false
	}
	y, err := canonical.Form(b, partition.MaxItemBytes)
	return err == nil && bytes.Equal(x, y)
}
