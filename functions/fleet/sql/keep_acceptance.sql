with kept as (
    insert into eula_acceptances (agent_id, digest, version, accepted_at, address, signature) values ($1, $2, $3, $4, $5, $6)
    on conflict do nothing
)
update agents set eula_digest = $2 where id = $1
