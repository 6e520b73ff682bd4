-- What a job still waits for.
select id from guardian_approvals where job = $1 and kind = $2 and state = 'waiting' order by id limit 1
