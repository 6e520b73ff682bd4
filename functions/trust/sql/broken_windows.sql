-- The windows that were to be closed together with one of these agents' ($1) that has failed.
select w.job_id, w.agent_id, w.number from windows w
where w.share > 0 and w.state = 'closing' and exists (
    select from windows f where f.job_id = w.job_id and f.agent_id = any ($1) and f.share > 0 and f.state = 'failed'
)
order by w.job_id, w.agent_id, w.number
