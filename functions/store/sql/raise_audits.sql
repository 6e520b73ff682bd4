insert into audit_raises (job_id, agent_id, factor) values ($1, $2, $3)
on conflict (job_id, agent_id) do update set factor = greatest(audit_raises.factor, excluded.factor), raised_at = now()
