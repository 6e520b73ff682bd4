-- Adds $3 results to the agent's open window in the job, which is made where there is none. One that has come to $4 results is closed. No
-- row: it was closed meanwhile, and asking again finds the next.
with last as (
    select number, state from windows where job_id = $1 and agent_id = $2 order by number desc limit 1
),
place as (
    select coalesce((select case when state = 'open' then number else number + 1 end from last), 1) as number
)
insert into windows as w (job_id, agent_id, number, results, state)
select $1, $2, p.number, $3::bigint, case when $3::bigint >= $4::bigint then 'closing' else 'open' end from place p
on conflict (job_id, agent_id, number) do update
    set results = w.results + excluded.results, state = case when w.results + excluded.results >= $4::bigint then 'closing' else w.state end
    where w.state = 'open'
returning number, state
