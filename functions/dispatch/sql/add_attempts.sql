with post as (
    insert into submissions (id, lease_id, job_id, agent_id, signature, shards, stated, statement) values ($1, $2, $3, $4, $5, $6, $16, $17)
),
told as ( -- what came is in the log with the post itself
    insert into audit (actor, action, subject, detail) values ('agent:' || $4::uuid, $18, $2::uuid::text, $19::jsonb)
)
insert into attempts (submission_id, lease_id, job_id, agent_id, shard, status, output, output_digest, outcome,
    output_bytes, cpu_us, wall_us, peak_rss, diagnostics)
select $1, $2, $3, $4, r.shard, r.status, r.output, r.digest, r.outcome, r.size, r.cpu, r.wall, r.rss, r.rest::jsonb
from unnest($6::bigint[], $7::text[], $8::bytea[], $9::bytea[], $10::bytea[], $11::bigint[], $12::bigint[], $13::bigint[], $14::bigint[], $15::text[])
    as r (shard, status, output, digest, outcome, size, cpu, wall, rss, rest)
