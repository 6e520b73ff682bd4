select r.shard from rechecks r where r.job_id = $1 and r.batch is null and not exists (select from recheck_batches)
