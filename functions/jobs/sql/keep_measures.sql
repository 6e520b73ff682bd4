update job_metrics set next_shard = $2, executions = $3, cpu_us = $4, wall_us = $5, output_bytes = $6, walls = $7 where job_id = $1
