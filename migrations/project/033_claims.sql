-- Attempts that ended without an answer at shards to which somebody else gave one: each counts once, however often its shard is decided.
alter table attempts add column unconfirmed boolean not null default false;

-- What an owner, or an agent without one, did in all jobs.
create index lease_cursors_of_owner on lease_cursors (owner) where owner <> '';
create index lease_cursors_of_agent on lease_cursors (agent_id);
