-- $6: whether the action is for agents that do not work for the project yet, or not any more.
select a.id as item, coalesce((extract(epoch from m.decided_at) * 1000000)::bigint, 0) as revision, '' as was from agents a
left join agent_projects m on m.agent_id = a.id and m.project_id = $5
where (m.agent_id is not null or a.state <> 'pending' and (select agents_open from projects where id = $5)) and a.state <> 'revoked'
    and (coalesce(m.excluded, false) or a.state = 'pending') = $6
    and ($2::uuid[] is null or a.id = any ($2)) and ($3 = '' or a.state = $3) and ($4 = '' or ostraka.owner_at(a.id, $5) = $4)
order by a.id limit $1
