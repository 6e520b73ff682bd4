package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ostraka/ostraka/client"
)

// showJob prints a job.
func showJob(t *terminal, o *outputFlag, raw []byte, j client.Job) error {
	return printOne(t, o, raw, jobFields(j))
}

func jobFields(j client.Job) [][2]string {
	fields := [][2]string{
		{"job", j.ID.String()},
		{"function", fmt.Sprintf("%s version %d", j.Function, j.Version)},
		{"state", string(j.State)},
		{"error", j.Error},
		{"aggregator", j.AggregationError},
		{"shards", shardsText(j.Shards)},
		{"attempts", attemptsText(j)},
		{"input", partitionText(j.Partition)},
		{"verification", policyText(j.Policy)},
		{"any wrong", answerText(j)},
		{"note", caveatText(j.Verification)},
		{"executions", executionsText(j.Verification)},
		{"audits", auditsText(j.Verification)},
		{"confirmed", confirmedText(j.Verification)},
		{"taken back", takenBackText(j.Verification)},
		{"incidents", incidentsText(j)},
		{"controls", controlsText(j.Controls)},
		{"owners", ownersText(j)},
		{"attention", aboveShareText(j)},
		{"validator", validatorText(j.Validator)},
		{"heuristics", resultHeuristicsText(j.Heuristics)},
		{"created", shortTime(j.CreatedAt) + " by " + j.CreatedBy},
		{"took", tookText(j)},
		{"archive", archiveText(j.Archive)},
	}
	if j.Parent != nil {
		fields = append(fields, [2]string{"follows up", j.Parent.String()})
	}
	if a := j.Aggregate; a != nil {
		fields = append(fields, [2]string{"summary", a.Summary})
		fields = append(fields, answerFields(a)...)
		if j.Run > 1 {
			fields = append(fields, [2]string{"aggregation", fmt.Sprintf("%d; ostraka job aggregations %s lists the earlier ones", j.Run, j.ID)})
		}
	}
	return fields
}

func shardsText(s client.ShardCounts) string {
	text := fmt.Sprintf("%d of %d accepted", s.Accepted, s.Total)
	for _, other := range []struct {
		n    int64
		what string
	}{{s.Provisional, "of these not final yet"}, {s.Open, "open"}, {s.Review, "in review"}, {s.Failed, "failed"}, {s.Cancelled, "cancelled"}} {
		if other.n > 0 {
			text += fmt.Sprintf(", %d %s", other.n, other.what)
		}
	}
	return text
}

func attemptsText(j client.Job) string {
	if settled := j.Shards.Total - j.Shards.Open; settled > 0 && j.Shards.Open == 0 {
		return fmt.Sprintf("%d (%.2f a shard)", j.Attempts, float64(j.Attempts)/float64(settled))
	}
	return strconv.FormatInt(j.Attempts, 10)
}

func partitionText(p client.Partition) string {
	switch {
	case p.Kind == client.PartitionKindRange:
		return fmt.Sprintf("[%s, %s) by %s", p.From, p.To, p.Size)
	case p.Kind == client.PartitionKindGrid:
		return gridText(p.Axes)
	case p.Kind == client.PartitionKindLines && p.Bytes != "":
		return fmt.Sprintf("the lines in object %s, %s bytes a shard", shortDigest(p.Object), p.Bytes)
	case p.Kind == client.PartitionKindLines:
		return fmt.Sprintf("the lines in object %s by %s", shortDigest(p.Object), p.Lines)
	case p.Kind == client.PartitionKindObjects && p.PerShard != "":
		return fmt.Sprintf("the files of manifest %s by %s", shortDigest(p.Manifest), p.PerShard)
	case p.Kind == client.PartitionKindObjects:
		return "the files of manifest " + shortDigest(p.Manifest)
	case p.Object != "":
		return "the items in object " + shortDigest(p.Object)
	default:
		return count(int64(len(p.Values)), "item")
	}
}

// gridText shows the axes with their sizes.
func gridText(axes []client.Axis) string {
	sizes := make([]string, len(axes))
	for i, a := range axes {
		sizes[i] = fmt.Sprintf("%s (%d)", a.Name, len(a.Values))
	}
	return "every combination of " + strings.Join(sizes, ", ")
}

func tookText(j client.Job) string {
	if j.FinishedAt == nil {
		return ""
	}
	return j.FinishedAt.Sub(j.CreatedAt).Round(10 * time.Millisecond).String()
}

// answerFields shows an answer: an object by its fields, each cut to what a line holds; -o json shows all.
func answerFields(a *client.Aggregate) [][2]string {
	if a.Preview != nil {
		fields := jsonFields("so far", a.Preview.Value)
		return append(fields, [2]string{"covers", fmt.Sprintf("%.0f %% of the pages, %s", 100*a.Preview.Share, count(a.Preview.Count, "result"))})
	}
	if a.Object != "" {
		return [][2]string{{"answer", "in object " + a.Object + ": ostraka object get " + a.Object}}
	}
	fields := jsonFields("answer", a.Value)
	switch {
	case a.RowsObject != "":
		fields = append(fields, [2]string{"rows", "in object " + a.RowsObject + ": ostraka object get " + a.RowsObject})
	case a.Rows != nil:
		fields = append(fields, [2]string{"rows", cut(string(a.Rows))})
	}
	return fields
}

// jsonFields shows the members of an object a line each, and any other value as it is.
func jsonFields(name string, value json.RawMessage) [][2]string {
	var members map[string]json.RawMessage
	if json.Unmarshal(value, &members) != nil || len(members) == 0 {
		return [][2]string{{name, cut(string(value))}}
	}
	var fields [][2]string
	for _, member := range slices.Sorted(maps.Keys(members)) {
		fields = append(fields, [2]string{name + "." + member, cut(string(members[member]))})
	}
	return fields
}
