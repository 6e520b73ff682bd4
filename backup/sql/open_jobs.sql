-- The jobs that have not ended and whose audits are drawn by a secret, the newest $1 of them, and how many there are. Schemas of before have no such column.
select id, count(*) over () as open from jobs j
where state not in ('finished', 'failed', 'cancelled', 'deleting') and to_jsonb(j) ->> 'draws_sha256' is not null
order by id desc limit $1
