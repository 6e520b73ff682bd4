update flags set resolved_at = now(), resolution = $3 where job_id = $1 and shard = $2 and resolved_at is null
