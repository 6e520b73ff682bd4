select agent_id, passed, failed, caught_at is not null as caught, audits_passed, audits_failed, since_failure from trust where agent_id = any ($1)
