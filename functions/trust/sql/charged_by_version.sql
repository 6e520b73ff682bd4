-- Whom jobs of the same version have charged, in the order in which trust is locked.
select c.job_id, c.agent_id, c.owner from jobs v
join jobs j on j.function_id = v.function_id and j.function_version = v.function_version
join lease_cursors c on c.job_id = j.id
where v.id = $1 and (c.failed > c.failed_excused or c.audits_failed > c.audits_excused)
order by c.agent_id, c.job_id limit $2
