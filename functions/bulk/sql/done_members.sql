-- The agents of a project that are as the bulk action has left them. What somebody has decided since stays.
select i.item, (extract(epoch from m.decided_at) * 1000000)::bigint as revision, '' as was
from bulk_items i join bulk_actions b on b.id = i.bulk_id join agent_projects m on m.agent_id = i.item and m.project_id = b.project_id
where i.bulk_id = $1 and i.state = 'done' and m.excluded = $2 and m.reason = b.reason and m.decided_at between b.created_at and i.settled_at
order by i.number
