-- Lets one transaction at a time end audits of an owner's results in the job $1: of two that end its last ones the second one sees both. $2 are
-- the agents whose audits end; one without an owner is its own.
select pg_advisory_xact_lock(o.key) is not null from (
    select distinct hashtextextended('audits ' || $1::uuid::text || ' ' || coalesce(nullif(c.owner, ''), a.id::text), 0) as key
    from unnest($2::uuid[]) as a (id) left join lease_cursors c on c.job_id = $1 and c.agent_id = a.id order by 1
) o
