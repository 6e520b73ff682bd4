package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
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
		{"shards", shardsText(j.Shards)},
		{"attempts", attemptsText(j)},
		{"input", partitionText(j.Partition)},
		{"verification", policyText(j.Policy)},
		{"created", shortTime(j.CreatedAt) + " by " + j.CreatedBy},
		{"took", tookText(j)},
	}
	if j.Parent != nil {
		fields = append(fields, [2]string{"follows up", j.Parent.String()})
	}
	if a := j.Aggregate; a != nil {
		fields = append(fields, [2]string{"summary", a.Summary})
		fields = append(fields, answerFields(a)...)
	}
	return fields
}

func shardsText(s client.ShardCounts) string {
	text := fmt.Sprintf("%d of %d accepted", s.Accepted, s.Total)
	for _, other := range []struct {
		n    int64
		what string
	}{{s.Open, "open"}, {s.Review, "in review"}, {s.Failed, "failed"}, {s.Cancelled, "cancelled"}} {
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
	case p.Object != "":
		return "the items in object " + shortDigest(p.Object)
	default:
		return count(int64(len(p.Values)), "item")
	}
}

func policyText(p client.Policy) string {
	if p.None {
		return "none: the first answer is believed"
	}
	return fmt.Sprintf("quorum of %d", p.Quorum)
}

func tookText(j client.Job) string {
	if j.FinishedAt == nil {
		return ""
	}
	return j.FinishedAt.Sub(j.CreatedAt).Round(10 * time.Millisecond).String()
}

// answerFields shows an answer: an object by its fields, each cut to what a line holds; -o json shows all.
func answerFields(a *client.Aggregate) [][2]string {
	if a.Object != "" {
		return [][2]string{{"answer", "in object " + a.Object + ": ostraka object get " + a.Object}}
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(a.Value, &members) != nil || len(members) == 0 {
		return [][2]string{{"answer", cut(string(a.Value))}}
	}
	var fields [][2]string
	for _, name := range slices.Sorted(maps.Keys(members)) {
		fields = append(fields, [2]string{"answer." + name, cut(string(members[name]))})
	}
	return fields
}
