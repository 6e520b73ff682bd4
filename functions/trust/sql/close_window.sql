update windows set state = $4, audits = $5::bigint, drawn = drawn + $6::bigint, risk = greatest(risk, $7::float8)
where job_id = $1 and agent_id = $2 and number = $3
