delete from schedule_firings
where schedule_id = $1 and at < (select at from schedule_firings where schedule_id = $1 order by at desc offset $2 limit 1)
