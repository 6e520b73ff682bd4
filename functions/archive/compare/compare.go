package compare

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/ostraka/ostraka/audit"
	file "github.com/ostraka/ostraka/runtime/archive"
	"github.com/ostraka/ostraka/runtime/canonical"
)

// documentCheck holds the document of an archive to the receipt in it. Every field is either compared, or named among those that the
// receipt does not prove: nobody may take a field for proven because it stands beside a receipt.
type documentCheck struct {
	fields *fields
	open   []string // paths that were compared in part
	err    error    // the first difference
}

// Document compares the document of an archive with what the log vouches for, and names what the receipt does not prove.
func Document(text []byte, said audit.Statement) (notProved []string, err error) {
	c := &documentCheck{fields: newFields(text)}
	c.fields.compared("format", "results", "receipt") // which are looked at elsewhere
	c.text("project", said.Project)
	c.text("job", said.Job)
	c.text("record.id", said.Job)
	c.run(said)
	c.text("state", said.State)
	c.text("record.state", said.State)
	c.function(said.Function)
	c.counts(said.Shards)
	c.part("record.partition", said.Partition)
	c.part("record.policy", said.Policy)
	c.part("record.validator", said.Validator)
	c.part("record.aggregator", said.Aggregator)
	c.verification(said.Verification)
	c.failure(said.Error)
	c.text("record.created_by", said.CreatedBy)
	c.time("record.created_at", said.CreatedAt)
	c.time("record.finished_at", said.FinishedAt)
	c.answer(said.Answer)
	c.aggregations(said)
	if c.err != nil {
		return nil, c.err
	}
	rest, err := c.fields.notCompared()
	if err != nil {
		return nil, err
	}
	notProved = append(c.open, rest...)
	slices.Sort(notProved)
	return notProved, nil
}

// is compares a field. Without a value it must not be there.
func (c *documentCheck) is(path string, want json.RawMessage) {
	if c.err != nil {
		return
	}
	got, found := c.fields.at(path)
	c.fields.compared(path)
	switch {
	case !found && want == nil:
	case !found:
		c.differs(path, "is missing", string(want))
	case want == nil:
		c.differs(path, "is "+shorten(string(got)), "no such thing")
	case !sameJSON(got, want):
		c.differs(path, "is "+shorten(string(got)), string(want))
	}
}

func (c *documentCheck) differs(path, got, want string) {
	if c.err == nil {
		c.err = fmt.Errorf("%s %s, and the receipt says %s", path, shown(got), shown(shorten(want)))
	}
}

// shorten cuts what others have written to what fits in a sentence.
func shorten(text string) string {
	const most = 200
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// shown makes what others have written safe for a terminal and a log.
func shown(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return '·'
		}
		return r
	}, text)
}

// sameJSON says whether two documents mean the same.
func sameJSON(a, b json.RawMessage) bool {
	x, err := canonical.Form(a, file.MaxDocument)
	y, other := canonical.Form(b, file.MaxDocument)
	return err == nil && other == nil && bytes.Equal(x, y)
}

func (c *documentCheck) text(path, want string) {
	value, err := json.Marshal(want)
	if err != nil {
		c.err = errors.Join(c.err, err)
		return
	}
	c.is(path, value)
}

func (c *documentCheck) number(path string, want int64) {
	c.is(path, json.RawMessage(strconv.FormatInt(want, 10)))
}

// time compares moments, which may be written with another zone.
func (c *documentCheck) time(path string, want time.Time) {
	c.fields.compared(path)
	var got time.Time
	value, found := c.fields.at(path)
	if !found && want.IsZero() {
		return
	}
	if !found || json.Unmarshal(value, &got) != nil || !got.Equal(want) {
		c.differs(path, "is "+cmp.Or(string(value), "missing"), want.Format(time.RFC3339Nano))
	}
}

// run comes before all that another aggregation changes.
func (c *documentCheck) run(said audit.Statement) {
	c.number("record.run", int64(said.Run))
	if c.err != nil && strings.HasPrefix(c.err.Error(), "record.run ") {
		c.err = fmt.Errorf("%w; a receipt that was made before the job was aggregated again is about another answer too", c.err)
	}
}

func (c *documentCheck) function(said audit.FunctionStated) {
	c.text("function.name", said.Name)
	c.number("function.version", int64(said.Version))
	c.text("function.digest", said.Digest)
	c.text("record.function", said.Name)
	c.number("record.version", int64(said.Version))
}

func (c *documentCheck) counts(said audit.ShardsStated) {
	for _, at := range []string{"shards", "record.shards"} {
		c.number(at+".total", said.Total)
		c.number(at+".accepted", said.Accepted)
		c.number(at+".failed", said.Failed)
	}
}

// part compares a part of the job, of which the receipt may have the digest alone.
func (c *documentCheck) part(path string, said json.RawMessage) {
	got, found := c.fields.at(path)
	var long struct {
		Bytes  int64  `json:"bytes"`
		SHA256 string `json:"sha256"`
	}
	if found && len(got) > audit.MaxReceiptPart && json.Unmarshal(said, &long) == nil && long.SHA256 != "" {
		c.fields.compared(path)
		if !hasDigest(got, long.SHA256) {
			c.differs(path, "has another digest", long.SHA256)
		}
		return
	}
	c.is(path, said)
}

// hasDigest says whether these are the bytes of a digest. In the document, characters that matter in HTML are escaped.
func hasDigest(value json.RawMessage, digest string) bool {
	var compact bytes.Buffer
	if json.Compact(&compact, value) != nil {
		return false
	}
	return audit.DigestOf(compact.Bytes()) == digest || audit.DigestOf(unescapedHTML(compact.Bytes())) == digest
}

// unescapedHTML takes back what json.Marshal does to the characters that matter in HTML and JavaScript.
func unescapedHTML(text []byte) []byte {
	return escape.ReplaceAllFunc(text, func(e []byte) []byte {
		if char, found := escapedHTML[string(e)]; found {
			return []byte(char)
		}
		return e
	})
}

// escape finds every escape, so that a backslash that is escaped itself begins none.
var escape = regexp.MustCompile(`\\(u[0-9a-f]{4}|.)`)

var escapedHTML = map[string]string{`\u003c`: "<", `\u003e`: ">", `\u0026`: "&", `\u2028`: "\u2028", `\u2029`: "\u2029"}

// fieldName is what names of fields are like: a path takes anything else for a place in a list, or for several names.
var fieldName = regexp.MustCompile(`^[a-z0-9_]{1,64}$`)

// later are counts of agents that were caught after the job's end, which may have grown since the receipt was made.
var later = []string{"incidents", "questionable"}

func (c *documentCheck) verification(said json.RawMessage) {
	const path = "record.verification"
	var fields map[string]json.RawMessage
	if _, found := c.fields.at(path); !found || json.Unmarshal(said, &fields) != nil {
		c.part(path, said)
		return
	}
	for name, want := range fields {
		if !fieldName.MatchString(name) {
			c.differs(path, "has no such field", "something of "+strconv.Quote(shorten(name)))
			return
		}
		at := path + "." + name
		if slices.Contains(later, name) && c.grown(at, want) {
			c.fields.compared(at)
			c.open = append(c.open, at)
			continue
		}
		c.is(at, want)
	}
	c.noneBut(path, fields)
}

// grown says whether a count is greater than it was.
func (c *documentCheck) grown(path string, was json.RawMessage) bool {
	got, _ := c.fields.at(path)
	var now, before int64
	return json.Unmarshal(got, &now) == nil && json.Unmarshal(was, &before) == nil && now > before
}

// noneBut refuses a field that the receipt does not have.
func (c *documentCheck) noneBut(path string, fields map[string]json.RawMessage) {
	value, _ := c.fields.at(path)
	var got map[string]json.RawMessage
	if err := json.Unmarshal(value, &got); err != nil {
		c.differs(path, "is "+shorten(string(value)), "an object")
	}
	for name := range got {
		if _, known := fields[name]; !known {
			c.differs(path+"."+strconv.Quote(name), "is there", "nothing of it")
		}
	}
}

// failure compares why a job failed, of which the receipt has the beginning.
func (c *documentCheck) failure(said string) {
	const path = "record.error"
	var got string
	value, _ := c.fields.at(path)
	if json.Unmarshal(value, &got) != nil || len(got) <= audit.MaxReceiptPart {
		if want := json.RawMessage(nil); said == "" {
			c.is(path, want)
		} else {
			c.text(path, said)
		}
		return
	}
	c.fields.compared(path)
	c.open = append(c.open, path)
	if strings.ToValidUTF8(got[:audit.MaxReceiptPart], "") != said {
		c.differs(path, "begins otherwise", said)
	}
}

// answer compares what was folded.
func (c *documentCheck) answer(said *audit.AnswerStated) {
	const path = "record.aggregate"
	_, preview := c.fields.at(path + ".preview")
	if said == nil {
		if preview { // there was no answer yet, and so its value is empty
			c.is(path+".value", json.RawMessage("null"))
			c.number(path+".count", 0)
			return
		}
		c.is(path, nil)
		return
	}
	c.is(path+".preview", nil)
	c.number(path+".count", said.Count)
	c.stored(path+".value", path+".object", said.Digest, said.Value)
	c.stored(path+".rows", path+".rows_object", said.Rows, nil)
}

// nullDigest is of an answer that is null, as a module may give one.
var nullDigest = audit.DigestOf([]byte("null"))

// stored compares what stands in the document, or is an object that it names. The receipt has the digest, and may have the value.
func (c *documentCheck) stored(path, object, digest string, value json.RawMessage) {
	if got, found := c.fields.at(path); found && digest != "" && (string(got) != "null" || digest == nullDigest) {
		c.fields.compared(path)
		same := value != nil && sameJSON(got, value)
		if !same && !hasDigest(got, digest) {
			c.differs(path, "is "+shorten(string(got)), cmp.Or(string(value), "that its digest is "+digest))
		}
		c.is(object, nil)
		return
	}
	if _, found := c.fields.at(object); !found && digest != "" {
		c.differs(path, "is missing", "that its digest is "+digest)
	}
	if got, found := c.fields.at(path); found && string(got) != "null" {
		c.is(path, nil)
	}
	c.fields.compared(path)
	if digest == "" {
		c.is(object, nil)
		return
	}
	c.text(object, digest)
}

// aggregations compares the one whose answer the receipt has.
func (c *documentCheck) aggregations(said audit.Statement) {
	var list []struct {
		Run int `json:"run"`
	}
	value, found := c.fields.at("aggregations")
	if !found {
		return
	}
	if err := json.Unmarshal(value, &list); err != nil {
		c.differs("aggregations", "is no list", "what the job came to")
		return
	}
	at := slices.IndexFunc(list, func(a struct {
		Run int `json:"run"`
	},
	) bool {
		return a.Run == said.Run
	})
	if at < 0 {
		c.differs("aggregations", "is without the one of the answer", fmt.Sprintf("that it is run %d", said.Run))
		return
	}
	path := fmt.Sprintf("aggregations[%d]", at)
	c.number(path+".run", int64(said.Run))
	if ref, found := c.fields.at("record.aggregator"); found { // which was compared
		c.is(path+".aggregator", ref)
	}
	if said.Answer == nil {
		return
	}
	c.number(path+".count", said.Answer.Count)
	c.text(path+".state", "finished")
	c.text(path+".error", "")
	object := json.RawMessage("null")
	if got, found := c.fields.at("record.aggregate.object"); found {
		object = got
	}
	c.is(path+".object", object)
	c.is(path+".value", nil)
}
