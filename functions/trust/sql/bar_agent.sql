-- The agent is not lent the version of the job's function any more.
insert into refusals as r (agent_id, function_id, function_version, code, reason, until)
select $2, j.function_id, j.function_version, $3, $4, 'infinity' from jobs j where j.id = $1
on conflict (function_id, function_version, agent_id) do update
    set code = excluded.code, reason = excluded.reason, refused_at = now(), until = excluded.until
