-- Steps $1 were kept for a request that could not carry them out: workers are to.
update river.river_job set state = 'available', scheduled_at = now() where id = any ($1::bigint[]) and state = 'scheduled'
