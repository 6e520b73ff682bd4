-- Owners of whom so many agents were caught: whether they are caught themselves is decided by all that is known about them.
select owner from trust where caught_at is not null and owner <> '' group by owner having count(*) >= $1::bigint
