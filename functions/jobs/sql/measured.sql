-- What was measured of a job so far; the row is locked, so that two runs of the step measure no shard twice.
insert into job_metrics (job_id) values ($1) on conflict (job_id) do update set next_shard = job_metrics.next_shard
returning next_shard, executions, cpu_us, wall_us, output_bytes, walls
