-- The agents of an owner that are caught, those first that were caught first; $2 of them.
select agent_id from trust where owner = $1 and caught_at is not null order by caught_at, agent_id limit $2
