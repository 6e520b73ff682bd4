-- Counts audits of a window that have ended; it has failed with the first that did. When it passes is told at pass_windows.
update windows set passed = passed + $4::bigint, drawn = drawn - $5::bigint, state = case when $6::boolean then 'failed' else state end
where job_id = $1 and agent_id = $2 and number = $3
returning state, audits - passed - drawn as missing
