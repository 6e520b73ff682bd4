update recheck_batches set trouble = $2, trouble_since = coalesce(trouble_since, now()) where id = $1
returning trouble_since
