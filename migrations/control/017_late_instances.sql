-- When a process spoke again first that another one had taken over from. A request of a dead process may have waited in a connection for as
-- long as a server stood still: only one that speaks once more is alive.
alter table agent_instances add column late_at timestamptz;
