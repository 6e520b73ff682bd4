-- The agents that are listed by the project, those that it has excluded among them; of a project that is open, all that were approved.
select a.*, (select volumes from agents x where x.id = a.id) as volumes, ostraka.owner_at(a.id, $3) as member_owner, coalesce(m.excluded, false) as excluded, coalesce(m.reason, '') as member_reason
from agents_shown a
left join agent_projects m on m.agent_id = a.id and m.project_id = $3
where a.id > $1 and ($4::uuid is null or a.id = $4)
  and (m.agent_id is not null or a.state <> 'pending' and (select agents_open from projects where id = $3))
order by a.id limit $2
