with taken as (
    insert into agent_instances (agent_id, instance, address) values ($1, $2, $3)
)
update agents set instance = $2 where id = $1
