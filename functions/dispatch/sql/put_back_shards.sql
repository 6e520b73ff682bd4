-- Puts shards back ($3) that were lent to an agent ($2) a moment ago and that another agent of its owner ($4) has.
with kin as (
    select agent_id from lease_cursors where job_id = $1 and owner = $4 and agent_id <> $2
)
update shards s set wanted = s.wanted + 1, lent = s.lent - 1
where s.job_id = $1 and s.number = any ($3)
  and (exists (select from leases l join kin on kin.agent_id = l.agent_id where l.job_id = $1 and l.state = 'open' and s.number = any (l.shards))
    or exists (select from attempts a join kin on kin.agent_id = a.agent_id where a.job_id = $1 and a.shard = s.number and not a.void))
returning s.number
