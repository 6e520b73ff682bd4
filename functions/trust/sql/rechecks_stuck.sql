-- Whether the server has had no results of its own for $2, in the lane of the job $1. What the guardian holds is not stuck: nothing is decided
-- without the server.
select not exists (select from recheck_holds where job_id = $1) and not exists (
    select from recheck_progress p where p.at > now() - $2::interval and p.long = (select r.long from rechecks r where r.job_id = $1 limit 1)
)
