-- The jobs with a bound, or with controls, that an agent was lent shards of, by ID after $2.
select j.id, j.state, j.shards_total, j.policy ? 'target_error' as bounded from lease_cursors c join jobs j on j.id = c.job_id
where c.agent_id = $1 and j.id > $2 and (j.policy ? 'target_error' or j.controls > 0) and j.state <> 'deleting' order by j.id limit $3
