-- How much of a job each owner has given, and since when it is lent no more of it while others are there.
alter table lease_cursors
    add column results   bigint not null default 0, -- that the agent has brought, whatever became of them
    add column capped_at timestamptz;
update lease_cursors c set results = coalesce((select sum(l.reported) from leases l where l.job_id = c.job_id and l.agent_id = c.agent_id), 0);
