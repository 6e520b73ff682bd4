-- Whether there is a job of that ID, and out of which document it came.
select j.state, coalesce(c.imported, '') as imported from jobs j left join archives c on c.job_id = j.id where j.id = $1
