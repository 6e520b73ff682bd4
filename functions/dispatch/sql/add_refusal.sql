-- Of an open lease only: sending it again after the lease has ended changes nothing. An agent that is barred stays so. The wait doubles from $5 up to $6 with each
-- refusal, and starts anew when the last one was over for as long as the longest wait.
insert into refusals as r (agent_id, function_id, function_version, code, reason, until)
select l.agent_id, j.function_id, j.function_version, $3, $4, now() + $5::interval
from leases l join jobs j on j.id = l.job_id
where l.id = $1 and l.agent_id = $2 and l.state = 'open'
on conflict (function_id, function_version, agent_id) do update set
    code = excluded.code, reason = excluded.reason, refused_at = now(),
    times = case when r.until < now() - $6::interval then 1 else r.times + 1 end,
    until = greatest(r.until, now() + case when r.until < now() - $6::interval then $5::interval
        else least($6::interval, $5::interval * power(2, least(r.times, 20))) end)
