-- One that failed is written anew; none that is there, or on its way.
insert into archives (job_id, state, asked_by) values ($1, 'writing', $2)
on conflict (job_id) do update set state = 'writing', asked_by = excluded.asked_by, asked_at = now(), error = '' where archives.state = 'failed'
