package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// definition says what a figure is, which way is better, and what we want of it.
type definition struct {
	name   string
	bar    string // as an issue or a release asks for it; "" for what only explains others
	less   bool   // is better
	what   string
	beside string // what it is compared with in the same run; "" where the machine alone decides
}

// definitions are of all figures, in the order of the table in docs/performance.md.
var definitions = []definition{
	{"call_ms", "≤ 25", true, "one call: a job of one shard from request to output, policy `none`, a warm agent; median of 100", ""},
	{"call_verified_ms", "≤ 120", true, "the same under the default policy, executed again by the server", ""},
	{"call_ratio", "≥ 6", false, "what the same takes with `docker run`, divided by call_ms", "`docker run`"},
	{"shard_fork_ms", "", true, "a trivial shard in a warm session, level `process`", ""},
	{"python_start_ratio", "", false, "an interpreter started for each shard, divided by shard_fork_ms", "`python3 -c`"},
	{"shard_fork_linux_ms", "", true, "a trivial shard in a warm session, level `linux`", ""},
	{"python_start_linux_ratio", "", false, "an interpreter started for each shard, divided by shard_fork_linux_ms", "`python3 -c`"},
	{"agents_shards_per_s", "", false, "trivial Python shards through two real agents, policy `none`, from submit to answer", ""},
	{"dask_ratio", "≥ 1.5", false, "the same through Dask, its time divided by ours", "dask.distributed, two workers"},
	{"shard_cpu_us", "≤ 1300", true, "processor time of the agents and all that they start, for each of these shards", ""},
	{"small_lease_ratio", "≥ 0.7", false, "shards a second in leases of 10, divided by those in leases of 1,000", "ourselves"},
	{"raw_shards_per_s", "", false, "the life cycle of shards in plain SQL, batches of 100", ""},
	{"lifecycle_shards_per_s", "", false, "the same through the server: agents that execute nothing, a quorum of 1, verified and folded", ""},
	{"lifecycle_ratio", "≥ 0.4", false, "lifecycle_shards_per_s divided by raw_shards_per_s", "plain SQL on the same Postgres"},
	{"default_lifecycle_ratio", "≥ 0.2", false, "the same under the default policy, the server's own executions included, divided by raw_shards_per_s", "plain SQL on the same Postgres"},
	{"large_job_shards_per_s", "", false, "the life cycle of a large job", ""},
	{"large_job_peak_rss_mib", "≤ 200", true, "the server's memory meanwhile, at most", ""},
	{"large_job_peak_rss_ratio", "≤ 1.2", true, "that divided by what a twentieth of the shards takes", "ourselves"},
	{"large_job_cost_ratio", "≤ 1.2", true, "seconds a shard of the large job divided by those of a twentieth of it", "ourselves"},
	{"merge_tail_ratio", "", true, "from the last shard to the answer, divided by folding everything at once", "ourselves"},
	{"bytes_per_fresh_shard", "", true, "of Postgres, when the job has ended", ""},
	{"bytes_per_shard", "≤ 300", true, "of Postgres, with its attempts packed", ""},
	{"bytes_per_archived_shard", "≤ 40", true, "of Postgres, once the job is an archive", ""},
	{"delete_neighbour_ratio", "≥ 0.8", false, "the speed of a job while another is deleted, divided by that alone", "ourselves"},
	{"viewers_ratio", "≥ 0.95", false, "the life cycle while 200 people watch, divided by that without them", "ourselves"},
	{"guardian_decision_us", "", true, "one decision with 50 rules; 99 of 100 are below", ""},
	{"audit_verify_per_s", "≥ 200000", false, "records of a log", ""},
	{"receipt_verify_per_s", "", false, "shards of a receipt", ""},
	{"wasm_fold_ratio", "≥ 0.6", false, "a fold in C built natively, its time divided by that of the same as a module", "`cc -O2`"},
	{"meter_ratio", "", true, "processor time of the module with the meter, divided by that without it", "ourselves"},
	{"wasm_instances_per_s_c", "", false, "fresh instances of the module in C", ""},
	{"wasm_instances_per_s_rust", "", false, "of that in Rust", ""},
	{"wasm_instances_per_s_assemblyscript", "", false, "of that in AssemblyScript", ""},
	{"wasm_instances_per_s_go", "", false, "of that in Go", ""},
	{"wasm_function_ratio", "≥ 0.4", false, "a loop in C built natively, its time divided by that of the same as a function in WASM", "`cc -O2`"},
	{"wasm_shard_us", "≤ 150", true, "a trivial shard of a function in WASM", ""},
	{"recheck_shards_per_s", "", false, "trivial shards that the server executes again in containers", ""},
	{"docker_runs_per_s", "", false, "`docker run` of the same", ""},
	{"recheck_ratio", "≥ 150", false, "recheck_shards_per_s divided by docker_runs_per_s", "`docker run`"},
	{"kill_to_silence_ms", "", true, "from the killswitch until no process of the function lives", ""},
	{"monitor_cpu_percent_200", "", true, "of a processor, to watch 200 sandboxes without cgroups", ""},
	{"monitor_us_per_look", "", true, "one look at one of them", ""},
	{"idle_commits_per_s", "≤ 20", true, "of Postgres, while 5,000 requests wait", ""},
	{"idle_kib_per_poll", "≤ 48", true, "of the server's memory, for each", ""},
	{"submit_p99_ratio", "≤ 2", true, "submitting a job beside them, divided by that alone", "ourselves"},
	{"wake_p99_ms", "≤ 100", true, "from the submit to the lease, with 1,000 agents that wait", ""},
	{"version_ms", "≤ 30", true, "`ostraka version`; median of 20", ""},
	{"dev_ready_s", "≤ 2", true, "`ostraka dev` on a folder that it has been in before, until it is ready; median of 3", ""},
	{"program_mb", "≤ 80", true, "the program, in MB", ""},
	{"idle_server_cpu_percent", "≤ 0.3", true, "of a processor, a server with nothing to do", ""},
	{"idle_agent_cpu_percent", "≤ 0.3", true, "of a processor, an agent with nothing to do", ""},
}

// steady says whether a figure may be compared with that of another day: ratios, bytes and counts may, times and rates are the machine's.
func (d definition) steady() bool {
	return strings.HasSuffix(d.name, "_ratio") || strings.HasPrefix(d.name, "bytes_") || strings.HasSuffix(d.name, "_mib") || strings.HasSuffix(d.name, "_mb")
}

func define(name string) (definition, error) {
	if i := slices.IndexFunc(definitions, func(d definition) bool { return d.name == name }); i >= 0 {
		return definitions[i], nil
	}
	return definition{}, fmt.Errorf("figure %s is not defined: add it to definitions", name)
}

// writeTable writes what was measured as the table of docs/performance.md.
func writeTable(w io.Writer, all []figure) error {
	if _, err := io.WriteString(w, "| Figure | Here | We want | What | Beside |\n|---|---|---|---|---|\n"); err != nil {
		return err
	}
	for _, f := range all {
		d, err := define(f.name)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(w, "| `%s` | %.4g | %s | %s | %s |\n", f.name, f.value, d.bar, d.what, d.beside); err != nil {
			return err
		}
	}
	return nil
}
