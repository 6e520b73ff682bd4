-- The agents that a switch concerns, with what of it still runs on them as far as the server knows; of a project's ($2) only. An agent
-- that has said that it stops, or was not heard of for a minute, cannot confirm; its leases run out.
select a.id, a.name, a.last_seen_at, coalesce(a.last_seen_at > now() - interval '1 minute', false) and a.idle_code <> 'stopping' as seen, c.at as confirmed_at,
    (select count(*) from leases l where l.agent_id = a.id and l.ended_at is null and holds(k, l.project_id, l.function, l.function_version)
        and ($2::uuid is null or l.project_id = $2)) as leases,
    (select count(*) from sandboxes s where s.agent_id = a.id and s.ended_at is null and s.seen_at > now() - interval '1 minute'
        and holds(k, s.project_id, s.function, s.version) and ($2::uuid is null or s.project_id = $2)
        and exists (select from leases l where l.id = s.lease_id and l.ended_at is null)) as sandboxes
from kill_switches k
join agents a on (k.agent_id is null or a.id = k.agent_id) and a.state not in ('pending', 'revoked')
left join kill_confirmations c on c.switch_id = k.id and c.agent_id = a.id
where k.id = $1
  and (k.scope = 'everything' or exists (select from agent_projects m where m.agent_id = a.id and m.project_id = k.project_id)
    or exists (select from leases l where l.agent_id = a.id and l.ended_at is null and l.project_id = k.project_id))
  and ($2::uuid is null or exists (select from agent_projects m where m.agent_id = a.id and m.project_id = $2))
order by c.at is not null, a.id
