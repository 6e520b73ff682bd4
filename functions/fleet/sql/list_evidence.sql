select agent_id, passed, failed, caught_at, reason, audits_passed, audits_failed, since_failure, last_failed_at from trust where agent_id = any ($1)
