-- A step that waits is due by the clock of the server that put it off, and runs by the database's. One that waits for longer than any step
-- is put off, $1 after so many failures as it had and $2 at most, or $3 where it has not failed ($5 for steps $4, which look once more after an hour), was put off by a clock that was ahead.
update river.river_job set state = 'available', scheduled_at = now()
where state in ('available', 'scheduled', 'retryable')
  and scheduled_at > now() + case
    when state = 'retryable' then least($1::interval * power(2, least(coalesce(array_length(errors, 1), 0), 9)), $2::interval) * 1.25 + interval '10 s'
    when kind = $4 then $5::interval
    else $3::interval
  end
