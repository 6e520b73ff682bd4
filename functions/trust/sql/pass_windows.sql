-- Windows of agents ($2), and of the other agents of their owners, pass whose audits have all passed, when no audit of the owner's results in the
-- job is under way any more; not those that are closed together with others. An agent without an owner is its own.
with kin as materialized (
    select a.id as agent_id, a.id::text as owner from unnest($2::uuid[]) as a (id)
        where not exists (select from lease_cursors c where c.job_id = $1 and c.agent_id = a.id and c.owner <> '')
    union
    select c.agent_id, c.owner from lease_cursors me join lease_cursors c on c.job_id = me.job_id and c.owner = me.owner
        where me.job_id = $1 and me.agent_id = any ($2) and me.owner <> ''
),
waiting as materialized (
    select distinct k.owner from kin k join audits a on a.agent_id = k.agent_id where a.job_id = $1 and a.state = 'drawn'
),
due as (
    select w.job_id, w.agent_id, w.number from windows w join kin k on k.agent_id = w.agent_id
    where w.job_id = $1 and w.state = 'closing' and w.share = 0 and w.audits > 0 and w.passed >= w.audits and k.owner not in (select owner from waiting)
    order by w.agent_id, w.number for update of w
)
update windows w set state = 'passed' from due
where w.job_id = due.job_id and w.agent_id = due.agent_id and w.number = due.number
returning w.agent_id, w.number
