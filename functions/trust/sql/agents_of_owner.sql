-- The agent $2 and the others of the owner for whom it worked for the job $1, as far as they have worked for the project.
with mine as (
    select owner from lease_cursors where job_id = $1 and agent_id = $2
)
select $2::uuid as agent_id
union
select c.agent_id from lease_cursors c, mine where mine.owner <> '' and c.owner = mine.owner
order by agent_id
