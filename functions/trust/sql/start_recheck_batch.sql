update recheck_batches set started_at = coalesce(started_at, now()) where id = $1 returning long
