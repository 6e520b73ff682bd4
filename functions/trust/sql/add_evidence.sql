-- $7 of the audits that the agent has passed were before the server or before owners with a record. Also counts what speaks for and against the
-- agent in the job ($6), after its trust was locked, as everywhere, and notes whose machine it is.
with t as (
    insert into trust as t (agent_id, passed, failed, audits_passed, audits_failed, since_failure, vouched, owner)
        values ($1, $2, $3, $4, $5, $4, $7, coalesce((select owner from lease_cursors where job_id = $6 and agent_id = $1), ''))
    on conflict (agent_id) do update
        set passed = t.passed + $2, failed = t.failed + $3, audits_passed = t.audits_passed + $4, audits_failed = t.audits_failed + $5,
            vouched = case when $5 > 0 then 0 else t.vouched + $7 end, -- who was proven wrong begins a record anew
            since_failure = case when $5 > 0 then 0 else t.since_failure + $4 end, since_lost = case when $5 > 0 then t.since_failure else 0 end,
            last_failed_at = case when $3 + $5 > 0 then now() else t.last_failed_at end, updated_at = now(),
            owner = coalesce(nullif(excluded.owner, ''), t.owner)
    returning agent_id, passed, failed, caught_at is not null as caught, audits_passed, audits_failed, since_failure, excused_passed, excused_audits, since_lost
),
cursor as (
    update lease_cursors c set passed = c.passed + $2, failed = c.failed + $3, audits_failed = c.audits_failed + $5, since_lost = c.since_lost + t.since_lost
    from t where c.job_id = $6 and c.agent_id = t.agent_id and $2::bigint + $3::bigint + $5::bigint > 0
)
select agent_id, passed, failed, caught, audits_passed, audits_failed, since_failure, excused_passed, excused_audits from t
