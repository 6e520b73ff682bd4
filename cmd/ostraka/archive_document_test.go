package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// anArchive is one of a job of 20 shards with audits, flags and controls, as a server wrote it.
const (
	archivedDocument = "testdata/archive/job.json"
	archivedShards   = "testdata/archive/job.parquet"
)

func readTree(t *testing.T, text []byte) (tree map[string]any) {
	t.Helper()
	in := json.NewDecoder(bytes.NewReader(text))
	in.UseNumber()
	require.NoError(t, in.Decode(&tree))
	return tree
}

// logKey is the key in the receipt of a document.
func logKey(t *testing.T, text []byte) string {
	t.Helper()
	receipt, ok := readTree(t, text)["receipt"].(string)
	require.True(t, ok)
	key, ok := readTree(t, []byte(receipt))["key"].(string)
	require.True(t, ok)
	return key
}

// names are those of the fields of an object, in their order.
func names(fields map[string]any) []string { return slices.Sorted(maps.Keys(fields)) }

// eachLeaf calls a function with every leaf changed in turn; what it gave it is taken back after.
func eachLeaf(path string, value any, set func(any), visit func(path string)) {
	switch value := value.(type) {
	case map[string]any:
		for _, name := range names(value) {
			eachLeaf(strings.TrimPrefix(path+"."+name, "."), value[name], func(v any) { value[name] = v }, visit)
		}
	case []any:
		for i := range value {
			eachLeaf(fmt.Sprintf("%s[%d]", path, i), value[i], func(v any) { value[i] = v }, visit)
		}
	default:
		set(otherThan(value))
		visit(path)
		set(value)
	}
}

// otherThan is a value of the same kind, which the form of a document allows where it can.
func otherThan(value any) any {
	switch value := value.(type) {
	case json.Number:
		if n, err := value.Int64(); err == nil {
			return n + 1
		}
		return 0.25
	case string:
		switch {
		case value == "finished":
			return "failed"
		case value == "":
			return "x"
		case strings.HasPrefix(value[1:], "1"):
			return value[:1] + "2" + value[2:]
		}
		return value[:len(value)-1] + string(value[len(value)-1]^1)
	case bool:
		return !value
	}
	return 1
}

// TestNoFieldOfAnArchivePassesInSilence: with any field changed, the archive is refused, or the field is named as not proved.
func TestNoFieldOfAnArchivePassesInSilence(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(archivedDocument)
	require.NoError(t, err)
	key := logKey(t, text)
	whole, err := verifyArchive(t.Context(), archivedDocument, archivedShards, key)
	require.NoError(t, err)
	require.True(t, whole.Folded)
	changed, refused := filepath.Join(t.TempDir(), "job.json"), map[string]string{}
	tree := readTree(t, text)
	eachLeaf("", tree, nil, func(path string) {
		forged, err := json.Marshal(tree)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(changed, forged, 0o600))
		r, err := verifyArchive(t.Context(), changed, archivedShards, key)
		if err != nil {
			refused[path] = err.Error()
			return
		}
		named := false
		for _, f := range r.Fields {
			named = named || path == f || strings.HasPrefix(path, f+".") || strings.HasPrefix(path, f+"[")
		}
		require.True(t, named, "%s was changed, and the archive passes without a word of it", path)
	})
	for _, path := range []string{
		"state", "record.state", "function.name", "function.version", "function.digest", "record.function", "record.version", "record.partition.from",
		"record.policy.target_error", "record.aggregator.digest", "record.verification.error_bound", "record.verification.audits_passed",
		"record.aggregate.value.passed", "record.aggregate.count", "record.shards.accepted", "record.shards.failed", "shards.failed", "shards.total",
		"record.run", "record.created_by", "record.created_at", "record.finished_at", "aggregations[0].count", "aggregations[0].state", "aggregations[0].aggregator.digest", "receipt",
	} {
		require.NotEmpty(t, refused[path], path)
	}
	require.Contains(t, refused["record.policy.target_error"], "record.policy is ")
	require.Contains(t, refused["record.aggregate.value.passed"], "record.aggregate.value is ")
	require.Contains(t, refused["record.verification.error_bound"], "record.verification.error_bound is 0.25, and the receipt says 0.001")
	require.Subset(t, whole.Fields, []string{"flags", "metrics", "record.owners", "record.controls", "archived_by", "record.priority"})
}

// TestFieldsAreNeitherAddedNorTakenOut changes what no leaf of the document shows.
func TestFieldsAreNeitherAddedNorTakenOut(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(archivedDocument)
	require.NoError(t, err)
	key := logKey(t, text)
	for _, c := range []struct{ was, is, refusal string }{
		{`"policy":{`, `"policy":{"none":true,`, "record.policy is "},
		{`"run":1,"root"`, `"run":2,"root"`, "record.run is 2, and the receipt says 1; a receipt that was made before"},
		{`"error_bound":0.001,`, ``, "record.verification.error_bound is missing"},
		{`"error_bound":0.001,`, `"error_bound":0.001,"caveat":"x",`, `record.verification."caveat" is there`},
		{`"count":20,"summary"`, `"count":20,"object":"` + strings.Repeat("ab", 32) + `","summary"`, "record.aggregate.object is "},
		{`"count":20,"summary"`, `"count":20,"preview":{"count":5},"summary"`, "record.aggregate.preview is "},
		{`"run":1,"root"`, `"run":1,"error":"it failed","root"`, "record.error is "},
		{`"state":"finished","archived_by"`, `"state":"failed","state":"finished","archived_by"`, "state"},
		{`"count":20,"summary"`, `"count":20,"Count":21,"summary"`, `a field "Count" beside or in place of record.aggregate.count`},
		{`"policy":{`, `"policy":{"Quorum":9,`, `a field "Quorum"`},
		{`"policy":{`, `"Policy":{"quorum":9},"policy":{`, `a field "Policy"`},
		{`"state":"finished","archived_by"`, `"state":"failed","STATE":"finished","archived_by"`, `a field "STATE"`},
	} {
		require.Equal(t, 1, bytes.Count(text, []byte(c.was)), c.was)
		name := filepath.Join(t.TempDir(), "job.json")
		require.NoError(t, os.WriteFile(name, bytes.Replace(text, []byte(c.was), []byte(c.is), 1), 0o600))
		_, err := verifyArchive(t.Context(), name, archivedShards, key)
		require.ErrorContains(t, err, c.refusal, c.is)
	}
	// Agents may be caught after the receipt was made.
	name := filepath.Join(t.TempDir(), "job.json")
	require.NoError(t, os.WriteFile(name, bytes.Replace(text, []byte(`"incidents":0,"questionable":0}`), []byte(`"incidents":1,"questionable":7}`), 1), 0o600))
	r, err := verifyArchive(t.Context(), name, archivedShards, key)
	require.NoError(t, err)
	require.Subset(t, r.Fields, []string{"record.verification.incidents", "record.verification.questionable"})
}

// TestAnArchiveWithoutReceipt passes as what it is, and not where a key was given to verify one.
func TestAnArchiveWithoutReceipt(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(archivedDocument)
	require.NoError(t, err)
	tree := readTree(t, text)
	delete(tree, "receipt")
	bare, err := json.Marshal(tree)
	require.NoError(t, err)
	name := filepath.Join(t.TempDir(), "job.json")
	require.NoError(t, os.WriteFile(name, bare, 0o600))
	_, err = verifyArchive(t.Context(), name, archivedShards, logKey(t, text))
	require.ErrorContains(t, err, "no receipt that --key could verify")
	r, err := verifyArchive(t.Context(), name, archivedShards, "")
	require.NoError(t, err)
	require.Equal(t, noReceipt, r.Receipt)
	require.Contains(t, strings.Join(r.NotProved, "\n"), "there is no receipt")
}
