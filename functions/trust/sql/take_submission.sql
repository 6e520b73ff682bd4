-- Marks the submission as weighed. No row: another run has done it.
update submissions s set verified_at = now() from jobs j
where s.id = $1 and s.verified_at is null and j.id = s.job_id
returning s.job_id, s.agent_id, s.shards, j.policy, j.state, j.validator
