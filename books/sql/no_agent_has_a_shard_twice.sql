select l.agent_id, n, count(*) from leases l, unnest(l.shards) n where l.job_id = $1 and l.state = 'open'
group by 1, 2 having count(*) > 1
