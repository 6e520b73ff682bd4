select run, asked_by, last_shard, leaves, peaks, signed_agents, signed_submissions, signed_results, signed_peaks, signatures_making
from receipts where job_id = $1 and making for update
