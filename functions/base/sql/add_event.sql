with numbered as (
    update jobs set event_seq = event_seq + 1 where id = $1 returning event_seq
)
insert into events (job_id, seq, type, data) select $1, event_seq, $2, $3::jsonb from numbered
