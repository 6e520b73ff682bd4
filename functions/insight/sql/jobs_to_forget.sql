-- The jobs that ended first, of those that ended longer ago than $1.
select id from jobs where state in ('finished', 'failed', 'cancelled') and finished_at < now() - $1::interval order by finished_at limit $2
