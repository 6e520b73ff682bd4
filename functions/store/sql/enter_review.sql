update jobs j set state = 'review'
where j.id = $1 and j.state = 'running'
  and not exists (select from pages p where p.job_id = j.id and p.open > 0)
  and exists (select from pages p where p.job_id = j.id and p.review > 0)
