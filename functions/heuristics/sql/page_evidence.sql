select s.number as shard, s.agent_id, a.output, encode(a.output_digest, 'hex') as output_digest, a.output_bytes, a.cpu_us, a.wall_us, a.peak_rss as peak_rss_bytes
from shards s join attempts a on a.job_id = s.job_id and a.shard = s.number and a.agent_id = s.agent_id
where s.job_id = $1 and s.number >= $2 and s.number < $3 and s.state = 'accepted' order by s.number
