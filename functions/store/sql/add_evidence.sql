insert into trust (agent_id, passed, failed) values ($1, $2, $3)
on conflict (agent_id) do update
    set passed = trust.passed + excluded.passed, failed = trust.failed + excluded.failed, updated_at = now()
returning agent_id, passed, failed, caught_at is not null as caught
