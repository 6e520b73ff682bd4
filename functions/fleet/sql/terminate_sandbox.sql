-- A soft order may become a forced one, never the other way round.
update sandboxes set terminate = $2, terminate_by = $3, terminate_at = now()
where id = $1 and ended_at is null and (terminate is null or terminate = 'soft' and $2 = 'force')
