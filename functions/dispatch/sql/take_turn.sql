-- A lease is a turn of its job ($1) and of its project ($2): each begins where the last one ended, but not before its floor. As turns.After
-- has it, by what is there now: others were given turns since this one was decided. The job's row comes first, the project's after it.
with job as (
    update open_jobs set turn_start = greatest(turn_end, $3), turn_end = greatest(turn_end, $3) + $4::float8 where job_id = $1 returning 1
),
turn as (select $2::uuid as project, $5::float8 as floor, $6::float8 as stride where (select count(*) from job) >= 0)
insert into project_turns as t (project_id, turn_start, turn_end) select project, greatest(0, floor), greatest(0, floor) + stride from turn
on conflict (project_id) do update set turn_start = greatest(t.turn_end, $5), turn_end = greatest(t.turn_end, $5) + $6::float8
