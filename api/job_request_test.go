package api_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/api/jobs"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/partition"
)

func jobWith(partition string) string { return `{"function":"bpsw","partition":` + partition + `}` }

func items(values string) string { return jobWith(`{"kind":"items","values":[` + values + `]}`) }

func TestSubmitJob(t *testing.T) {
	r := newRig(t)
	var job functions.Job
	a := r.ask("POST", in("/jobs"), submitterKey, `{"function":"bpsw","version":3,"partition":{"kind":"range","from":"18446744073709551616","to":"18446744073710551616","size":"1000"},`+
		`"policy":{"quorum":2},"aggregator":{"module":"sum","params":{"big":123456789012345678901234567890}}}`)
	a.decode(t, 201, &job)
	require.Equal(t, in("/jobs/"+jobID.String()), a.Header.Get("Location"))
	got := r.fake.newJob
	require.Equal(t, "bpsw", got.Function)
	require.Equal(t, 3, got.Version)
	require.Equal(t, 2, got.Quorum)
	require.Equal(t, "sum", got.Aggregator)
	require.JSONEq(t, `{"big":123456789012345678901234567890}`, string(got.Params))
	require.Contains(t, string(got.Params), "123456789012345678901234567890", "no number is bent")
	require.Equal(t, "18446744073709551616", got.Partition.Range.From.String())
	count, known := got.Partition.Count()
	require.True(t, known)
	require.EqualValues(t, 1000, count)
	require.Nil(t, got.Items)
}

func TestInlineItemsKeepTheirBytes(t *testing.T) {
	huge := "1" + strings.Repeat("0", 400)
	tests := map[string]struct{ values, lines string }{
		"integers of any size": {huge + ",-0.0,1.10", huge + "\n-0.0\n1.10\n"},
		"order and blanks":     {`{"b" : 1,"a":[ 2 ]}, "x"`, "{\"b\" : 1,\"a\":[ 2 ]}\n\"x\"\n"},
		"escapes":              {`"\u00e9<&>é\/\n"`, "\"\\u00e9<&>é\\/\\n\"\n"},
		"several lines":        {"{\n  \"a\": 1,\n\t\"b\": \"x  y\"\n}", "{\"a\":1,\"b\":\"x  y\"}\n"},
		"null is a value":      {"null, false", "null\nfalse\n"},
		"as deep as may be":    {strings.Repeat("[", 64) + strings.Repeat("]", 64), strings.Repeat("[", 64) + strings.Repeat("]", 64) + "\n"},
	}
	r := newRig(t)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			a := r.ask("POST", in("/jobs"), ownerKey, items(test.values))
			require.Equal(t, 201, a.StatusCode, "%s", a.body)
			require.Equal(t, test.lines, string(r.fake.newJob.Items))
			require.Equal(t, partition.KindItems, r.fake.newJob.Partition.Kind)
			require.Nil(t, r.fake.newJob.Partition.Values)
		})
	}
}

func TestItemsInAnObject(t *testing.T) {
	r := newRig(t)
	digest := strings.Repeat("a1", 32)
	a := r.ask("POST", in("/jobs"), ownerKey, jobWith(`{"kind":"items","object":"`+digest+`"}`))
	require.Equal(t, 201, a.StatusCode, "%s", a.body)
	require.Equal(t, digest, r.fake.newJob.Partition.Object)
	require.Nil(t, r.fake.newJob.Items)
}

func TestItemsOfAJob(t *testing.T) {
	r := newRig(t)
	source := "0190a5d4-5b7a-7c3e-8f21-6d1e0c9b8a77"
	a := r.ask("POST", in("/jobs"), ownerKey, jobWith(`{"kind":"items","job":"`+source+`"}`))
	require.Equal(t, 201, a.StatusCode, "%s", a.body)
	require.Equal(t, source, r.fake.newJob.FromJob.String())
	require.Empty(t, r.fake.newJob.Partition.Object)
	for _, wrong := range []string{
		`{"kind":"items","job":"mine"}`, `{"kind":"items","job":7}`, `{"kind":"range","job":"` + source + `"}`, `{"job":"` + source + `"}`,
		`{"kind":"items","values":[1],"job":"` + source + `"}`,
	} {
		a := r.ask("POST", in("/jobs"), ownerKey, jobWith(wrong))
		require.Equal(t, 422, a.StatusCode, wrong)
		require.Contains(t, string(a.body), "partition_syntax", wrong)
	}
}

func TestSizesThatNobodySays(t *testing.T) {
	r := newRig(t)
	digest := strings.Repeat("a1", 32)
	for text, chosen := range map[string]bool{
		`{"kind":"range","from":"0","to":"2500"}`:                     true,
		`{"kind":"range","from":"0","to":"2500","size":"7"}`:          false,
		`{"kind":"lines","object":"` + digest + `"}`:                  true,
		`{"kind":"lines","object":"` + digest + `","lines":"10"}`:     false,
		`{"kind":"items","object":"` + digest + `","size":"10"}`:      false,
		`{"kind":"items","job":"` + jobID.String() + `","size":"10"}`: false,
		`{"kind":"items","values":[1,2,3],"size":"10"}`:               false,
	} {
		a := r.ask("POST", in("/jobs"), ownerKey, jobWith(text))
		require.Equal(t, 201, a.StatusCode, "%s", a.body)
		got := r.fake.newJob
		require.Equal(t, chosen, got.Chosen, text)
		switch {
		case got.Partition.Kind == partition.KindItems:
			require.EqualValues(t, 10, got.Partition.Size, text)
		case chosen && got.Partition.Kind == partition.KindRange:
			require.Equal(t, "5", got.Partition.Range.Size.String())
		case chosen:
			require.EqualValues(t, partition.ChosenLineBytes, got.Partition.Lines.Bytes)
		}
	}
}

func TestPartitionsThatAreRefused(t *testing.T) {
	r := newRig(t)
	for name, test := range map[string]struct {
		body   string
		status int
		code   string
		says   string
	}{
		"no object":             {jobWith(`7`), 422, "partition_syntax", "partition"},
		"null":                  {jobWith(`null`), 422, "partition_syntax", "partition"},
		"unknown kind":          {jobWith(`{"kind":"random"}`), 422, "partition_kind", "random"},
		"no kind":               {jobWith(`{"values":[1]}`), 422, "partition_syntax", "kind"},
		"empty range":           {jobWith(`{"kind":"range","from":"5","to":"5","size":"1"}`), 422, "range_empty", ""},
		"reversed range":        {jobWith(`{"kind":"range","from":"6","to":"5","size":"1"}`), 422, "range_reversed", ""},
		"bound is a number":     {jobWith(`{"kind":"range","from":0,"to":"5","size":"1"}`), 422, "partition_syntax", "from"},
		"bound is no integer":   {jobWith(`{"kind":"range","from":"0.5","to":"5","size":"1"}`), 422, "not_an_integer", "from"},
		"reversed, no size":     {jobWith(`{"kind":"range","from":"6","to":"5"}`), 422, "range_reversed", ""},
		"no items a shard":      {jobWith(`{"kind":"items","values":[1],"size":"0"}`), 422, "shard_size", "size"},
		"too many items":        {jobWith(`{"kind":"items","values":[1],"size":"32768"}`), 422, "shard_size", "size"},
		"an item in no list":    {jobWith(`{"kind":"items","size":"2","values":[1,` + strings.Repeat("[", 64) + strings.Repeat("]", 64) + `]}`), 422, "item_syntax", "values[1]"},
		"too many shards":       {jobWith(`{"kind":"range","from":"0","to":"10000001","size":"1"}`), 422, "too_many_shards", ""},
		"unknown field":         {jobWith(`{"kind":"range","from":"0","to":"5","size":"1","step":"2"}`), 422, "partition_syntax", "step"},
		"no items":              {items(``), 422, "items_empty", ""},
		"values are no array":   {jobWith(`{"kind":"items","values":{}}`), 422, "partition_syntax", "values"},
		"values and object":     {jobWith(`{"kind":"items","values":[1],"object":"` + strings.Repeat("a", 64) + `"}`), 422, "partition_syntax", "not both"},
		"object is no digest":   {jobWith(`{"kind":"items","object":"abc"}`), 422, "partition_syntax", "object"},
		"key twice in an item":  {items(`{"a":1,"a":2}`), 400, "bad_json", "twice"},
		"float without end":     {items(`1e400`), 422, "item_syntax", "values[0]"},
		"NUL in an item":        {items(`1,"a\u0000b"`), 422, "item_syntax", "values[1]"},
		"lone surrogate":        {items(`1,2,"\ud800"`), 422, "item_syntax", "values[2]"},
		"too deep an item":      {items(strings.Repeat("[", 65) + strings.Repeat("]", 65)), 422, "item_syntax", "values[0]"},
		"item of 64 KiB and 1":  {items(`1,"` + strings.Repeat("x", partition.MaxItemBytes-1) + `"`), 422, "item_size", "values[1]"},
		"one item too many":     {items(strings.Repeat("1,", partition.MaxInlineItems) + "1"), 413, "partition_size", "10001 values"},
		"one byte too many":     {items(inlineBytes(jobs.MaxInlineBytes + 1)), 413, "partition_size", "4194304 bytes"},
		"body one byte too big": {`{"function":"` + strings.Repeat("x", jobs.MaxJobBody) + `"}`, 413, "body_too_large", fmt.Sprint(jobs.MaxJobBody)},
	} {
		t.Run(name, func(t *testing.T) {
			p := r.ask("POST", in("/jobs"), ownerKey, test.body).problem(t)
			require.Equal(t, test.status, p.Status, p.Detail)
			require.Equal(t, test.code, p.Code, p.Detail)
			require.Contains(t, p.Detail, test.says)
		})
	}
}

// inlineBytes are items that make an array of exactly n bytes, brackets included.
func inlineBytes(n int) string {
	var all bytes.Buffer
	item := `"` + strings.Repeat("x", 60_000) + `",`
	for all.Len()+len(item)+len(`[""]`) < n {
		all.WriteString(item)
	}
	all.WriteString(`"` + strings.Repeat("y", n-all.Len()-len(`[""]`)) + `"`)
	return all.String()
}

func TestInlineItemsAtTheLimit(t *testing.T) {
	r := newRig(t)
	a := r.ask("POST", in("/jobs"), ownerKey, items(strings.Repeat("1,", partition.MaxInlineItems-1)+"1"))
	require.Equal(t, 201, a.StatusCode, "%s", a.body)
	require.Equal(t, partition.MaxInlineItems, bytes.Count(r.fake.newJob.Items, []byte("\n")))

	values := inlineBytes(jobs.MaxInlineBytes)
	require.Len(t, "["+values+"]", jobs.MaxInlineBytes)
	a = r.ask("POST", in("/jobs"), ownerKey, items(values))
	require.Equal(t, 201, a.StatusCode, "%s", a.body)

	head, tail := `{"function":"bpsw","partition":{"kind":"range","from":"0","to":"9","size":"1"}`, `}`
	a = r.ask("POST", in("/jobs"), ownerKey, head+strings.Repeat(" ", jobs.MaxJobBody-len(head)-len(tail))+tail)
	require.Equal(t, 201, a.StatusCode, "a body of exactly the limit: %s", a.body)
}
