update kill_switches set off_by = $6, off_at = now()
where off_at is null and scope = $1 and agent_id is not distinct from $2 and project_id is not distinct from $3
  and function is not distinct from $4 and version is not distinct from $5
