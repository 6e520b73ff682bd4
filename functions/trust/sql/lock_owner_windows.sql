-- Lets one window of an owner be closed at a time, so that each knows what the others have spent, and none while it is decided whether the
-- job's are closed together. An agent without an owner is its own.
select pg_advisory_xact_lock_shared(hashtextextended('windows of job ' || $1::uuid::text, 0)) is not null
    and pg_advisory_xact_lock(hashtextextended('windows ' || $1::uuid::text || ' ' || coalesce(
    (select nullif(owner, '') from lease_cursors where job_id = $1 and agent_id = $2), $2::uuid::text), 0)) is not null
