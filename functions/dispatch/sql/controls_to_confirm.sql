-- Shards of a job ($1) that are lent as controls for now, which agents of other hands than $2 have answered, and that nobody has at the moment: whoever
-- they are lent to next settles what is held against these. The first $3.
select c.place from controls c join control_loans l on l.job_id = c.job_id and l.place = c.place
where c.job_id = $1 and c.state = 'waiting'
group by c.place having bool_and(l.released) and not bool_or(l.hand = $2)
order by c.place limit $3
