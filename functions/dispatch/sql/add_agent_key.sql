-- The log has the key by which an agent signs, from the first results on that a stranger can check with it.
with recorded as (
    insert into audit (actor, action, subject, detail)
    select 'server', $3, $1::uuid::text, $4::jsonb where not exists (select from agent_keys where agent_id = $1)
    returning seq
)
insert into agent_keys (agent_id, key, record_seq) select $1, $2, seq from recorded on conflict (agent_id) do nothing
