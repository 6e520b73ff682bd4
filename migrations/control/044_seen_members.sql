-- Bulk actions that were begun by servers of before know nothing of earlier decisions about a project's agents: their items have revision 0, which
-- now says that there was none, so that each would fail with revision_changed. What was decided before the bulk action was begun, it has seen. What was
-- decided since stays as it is, and so do items of agents that had no decision.
update bulk_items i set revision = (extract(epoch from m.decided_at) * 1000000)::bigint
from bulk_actions b join agent_projects m on m.project_id = b.project_id
where b.id = i.bulk_id and b.subject = 'agents' and i.item = m.agent_id and i.revision = 0 and i.state <> 'done' and m.decided_at <= b.created_at;
