-- What is proven against an owner's agents counts against the owner: whose machine the agent was when the evidence about it came last.
alter table trust add column owner text not null default '';
update trust t set owner = c.owner from (
    select distinct on (agent_id) agent_id, owner from lease_cursors where owner <> '' order by agent_id, job_id desc
) c where c.agent_id = t.agent_id;
create index trust_by_owner on trust (owner) where owner <> '';
