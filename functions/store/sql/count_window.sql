-- Counts audits of a window that have ended; it has passed when none is missing, and failed with the first that did.
update windows set passed = passed + $4::bigint, drawn = drawn - $5::bigint,
    state = case when $6::boolean then 'failed' when state = 'closing' and passed + $4::bigint >= audits then 'passed' else state end
where job_id = $1 and agent_id = $2 and number = $3
returning state, audits - passed - drawn as missing
