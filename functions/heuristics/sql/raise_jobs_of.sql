-- The jobs of a version that have not ended.
insert into audit_raises (job_id, agent_id, factor)
select id, $3::uuid, $4::double precision from jobs where function_id = $1 and function_version = $2 and state not in ('finished', 'failed', 'cancelled', 'deleting') order by id
on conflict (job_id, agent_id) do update set factor = greatest(audit_raises.factor, excluded.factor), raised_at = now()
