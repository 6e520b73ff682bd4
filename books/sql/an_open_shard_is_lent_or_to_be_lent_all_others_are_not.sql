select number, state, wanted, lent from shards
where job_id = $1 and ((state = 'open' and wanted + lent = 0) or (state <> 'open' and wanted > 0))
	and not coalesce((select true from rechecks r where r.job_id = shards.job_id and r.shard = number), false)
