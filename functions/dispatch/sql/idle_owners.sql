-- The secret of a project ($1), and the owners with agents that may work for a job ($2) and have nothing to do: heard of in the last $3, and
-- without a lease. Owners $4 have enough of the job, and agents $5 are lent nothing. The job is for the owners $6; null: for all. $7 is the
-- meter that functions in WebAssembly need.
select (select secret from project_secrets where project_id = $1) as secret, array(
    select distinct coalesce(a.owner, a.id::text)
    from ostraka.agents_for($1, $2) a join ostraka.agents x on x.id = a.id left join ostraka.open_jobs j on j.job_id = $2
    where a.isolated and (not coalesce(j.wasm, false) or x.meter = $7) and a.id <> all ($5) and a.last_seen_at > now() - $3::interval
      and not exists (select from leases l where l.agent_id = a.id and l.ended_at is null)
      and coalesce(a.owner, a.id::text) <> all ($4::text[]) and ($6::text[] is null or a.owner = any ($6))
) as owners
