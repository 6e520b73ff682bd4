-- The switches of a project, or of none (null), that are on and hold less than all of it.
select count(*) from kill_switches where off_at is null and project_id is not distinct from $1::uuid and (agent_id is not null or scope = 'function')
