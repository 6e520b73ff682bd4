-- What agents have co-signed of a log, the newest of each owner first: one with many agents crowds no other out.
select agent_id, owner, size, at, note, line, key from (
    select c.agent_id, c.size, c.at, c.note, c.line, w.key, o.owner,
        row_number() over (partition by o.owner order by c.size desc, c.at desc, c.agent_id) as place
    from cosignatures c join witness_keys w on w.agent_id = c.agent_id,
        lateral (select ostraka.owner_at(c.agent_id, coalesce(c.project_id, '00000000-0000-0000-0000-000000000000')) as owner) o
    where c.project_id is not distinct from $1
) cosigned
order by place, size desc, at desc, agent_id limit $2
