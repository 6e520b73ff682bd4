-- The owners whose agents may work for a job, and whether some agent of another owner than $3 has nothing to do: it was heard of in the last $4,
-- and has no lease. Owners $5 have enough of the job, and agents $6 are lent nothing. The job is for the owners $7; null: for all. $8 is the
-- meter that functions in WebAssembly need.
with there as materialized (
    select a.id, coalesce(a.owner, a.id::text) as owner
    from ostraka.agents_for($1, $2) a join ostraka.agents x on x.id = a.id left join ostraka.open_jobs j on j.job_id = $2
    where a.isolated and (not coalesce(j.wasm, false) or x.meter = $8) and a.id <> all ($6) and a.last_seen_at > now() - $4::interval
      and ($7::text[] is null or a.owner = any ($7))
)
select (select count(distinct owner) from there) as owners, exists (
    select from there t where t.owner <> $3 and t.owner <> all ($5::text[])
      and not exists (select from leases l where l.agent_id = t.id and l.ended_at is null)
) as free
