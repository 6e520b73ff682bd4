-- What agents have co-signed of a log, the newest of each owner first: one with many agents crowds no other out. Nobody comes before others by
-- a clock that is ahead. The notes are read of those alone that are shown.
select first.agent_id, first.owner, first.size, c.at, c.note, c.line, w.key
from (
    select agent_id, owner, size, since, row_number() over (partition by owner order by size desc, since desc, agent_id) as place
    from (
        select agent_id, size, least(at, now()) as since, ostraka.owner_at(agent_id, coalesce(project_id, '00000000-0000-0000-0000-000000000000')) as owner
        from cosignatures where project_id is not distinct from $1
    ) cosigned
    order by place, size desc, since desc, agent_id limit $2
) first
join cosignatures c on c.agent_id = first.agent_id and c.project_id is not distinct from $1
join witness_keys w on w.agent_id = first.agent_id
order by first.place, first.size desc, first.since desc, first.agent_id
