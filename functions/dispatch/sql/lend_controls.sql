-- Of shards ($2) of a job ($1) that were just lent under the lease $3 to the agent $4 of the hand $5, which runs on the platform $6: notes those that
-- are lent as controls, and returns them with their inputs; null: the shard's own.
with found as (
    select place, input from controls where job_id = $1 and place = any ($2) and state = 'waiting'
),
noted as (
    insert into control_loans (lease_id, place, job_id, agent_id, hand, class) select $3, place, $1, $4, $5, $6 from found
)
select place as number, input from found
