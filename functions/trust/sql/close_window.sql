-- $8: the window is closed by itself from now on, and not together with others.
update windows set state = $4, audits = $5::bigint, drawn = drawn + $6::bigint, risk = greatest(risk, $7::float8),
    share = case when $8::boolean then 0 else share end
where job_id = $1 and agent_id = $2 and number = $3
