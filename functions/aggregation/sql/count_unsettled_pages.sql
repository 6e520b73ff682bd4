select j.pages_total - count(p.number) filter (where p.open = 0 and p.review = 0) from jobs j left join pages p on p.job_id = j.id
where j.id = $1 group by j.pages_total
