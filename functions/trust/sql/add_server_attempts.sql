insert into attempts (submission_id, lease_id, agent_id, job_id, shard, status, output, output_digest, outcome,
    output_bytes, cpu_us, wall_us, peak_rss, diagnostics)
select '00000000-0000-0000-0000-000000000000', '00000000-0000-0000-0000-000000000000', '00000000-0000-0000-0000-000000000000',
    $1, r.shard, r.status, r.output, r.digest, r.outcome, r.size, r.cpu, r.wall, r.rss, r.rest::jsonb
from unnest($2::bigint[], $3::text[], $4::bytea[], $5::bytea[], $6::bytea[], $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[], $11::text[])
    as r (shard, status, output, digest, outcome, size, cpu, wall, rss, rest)
on conflict (job_id, shard, agent_id) do update set status = excluded.status, output = excluded.output, output_digest = excluded.output_digest,
    outcome = excluded.outcome, output_bytes = excluded.output_bytes, cpu_us = excluded.cpu_us, wall_us = excluded.wall_us,
    peak_rss = excluded.peak_rss, diagnostics = excluded.diagnostics, reported_at = now()
