-- Since when the project lends an agent nothing, and why.
select caught_at, reason from trust where agent_id = $1 and caught_at is not null
