select j.project_id, j.job_id, j.min_isolation
from open_jobs j join agent_projects m on m.project_id = j.project_id
where m.agent_id = $1 order by j.created_at limit $2
