package result

import "github.com/ostraka/ostraka/functions/verify"

// The actions of records of the log that say what results have taken: of what an agent posted, and of what a server executed.
const (
	RecordedAction = "results.record"
	ExecutedAction = "results.execute"
)

// maxUsed bounds a sum of what is only said, such as an agent's CPU time, so that sums of sums are numbers still, also in JSON.
const maxUsed = 1 << 53

// Used is what the log says of results: how many there are, between which shards, how they ended, and what they have taken.
func Used(results []Checked) map[string]any {
	detail := map[string]any{"results": len(results)}
	if len(results) == 0 {
		return detail
	}
	first, last := results[0].Shard, results[0].Shard
	var cpu, wall, in, out, files, failed int64
	ended := map[string]int{}
	for _, r := range results {
		first, last = min(first, r.Shard), max(last, r.Shard)
		cpu, wall, in, out = used(cpu, r.CPUMicros), used(wall, r.WallMicros), used(in, r.InputBytes), used(out, r.OutputBytes)
		for _, f := range r.Files {
			files++
			out = used(out, f.Size)
		}
		ended[r.Status]++
		if r.Status != string(verify.OK) {
			failed++
		}
	}
	detail["first_shard"], detail["last_shard"], detail["ended"], detail["failed"] = first, last, ended, failed
	detail["cpu_us"], detail["wall_us"], detail["input_bytes"], detail["bytes"], detail["files"] = cpu, wall, in, out, files
	return detail
}

// used adds what is not negative.
func used(sum, more int64) int64 { return sum + min(max(more, 0), maxUsed-sum) }
