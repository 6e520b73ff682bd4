-- All but the one that speaks now. What is older than this cannot be told from a new process any more.
delete from agent_instances i using agents a where a.id = i.agent_id and i.instance is distinct from a.instance and i.started_at < now() - $1::interval
