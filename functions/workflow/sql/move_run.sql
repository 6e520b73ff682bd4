-- Each change of a run or of its steps makes a revision of it.
update workflow_runs set state = $2, error = case when $3 = '' then error else $3 end, revision = revision + 1,
    ended_at = case when $2 in ('finished', 'failed', 'cancelled') then coalesce(ended_at, now()) end
where id = $1
