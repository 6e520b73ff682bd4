-- The log has the key by which an agent signs, from the first results on that a stranger can check with it.
with recorded as (
    insert into audit (actor, action, subject, detail) values ('server', $2, $1::uuid::text, $3::jsonb) returning seq
)
update agent_keys k set record_seq = r.seq from recorded r where k.agent_id = $1
