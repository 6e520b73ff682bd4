-- Forgets what speaks against an agent, whose trust is locked. It is on probation again. Its charges in jobs are noted as excused, so that
-- nothing takes them back once more.
with noted as (
    update lease_cursors set failed_excused = failed, audits_excused = audits_failed, since_lost = 0
    where agent_id = $1 and (failed > failed_excused or audits_failed > audits_excused)
)
update trust set failed = 0, audits_failed = 0, since_failure = 0, since_lost = 0, vouched = 0, last_failed_at = null, caught_at = null, reason = '', updated_at = now()
where agent_id = $1
