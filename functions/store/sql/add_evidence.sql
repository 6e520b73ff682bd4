insert into trust as t (agent_id, passed, failed, audits_passed, audits_failed, since_failure) values ($1, $2, $3, $4, $5, $4)
on conflict (agent_id) do update
    set passed = t.passed + $2, failed = t.failed + $3, audits_passed = t.audits_passed + $4, audits_failed = t.audits_failed + $5,
        since_failure = case when $5 > 0 then 0 else t.since_failure + $4 end,
        last_failed_at = case when $3 + $5 > 0 then now() else t.last_failed_at end, updated_at = now()
returning agent_id, passed, failed, caught_at is not null as caught, audits_passed, audits_failed, since_failure
