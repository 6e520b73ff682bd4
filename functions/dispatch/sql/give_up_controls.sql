-- Nobody is left to give a second opinion of these controls ($2).
update controls c set state = 'unsettled', settled_at = now()
where c.job_id = $1 and c.place = any ($2) and c.state = 'waiting'
  and not exists (select from control_loans l where l.job_id = c.job_id and l.place = c.place and l.reported_at is null)
