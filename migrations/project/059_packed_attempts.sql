-- The attempts of ended jobs that nothing more is to be said about, all of a page in one row: plain successes that agree. Each list has
-- an element for each attempt, or for each submission that they came with. What follows from these is computed by packed_attempts.
create table attempt_pages (
    job_id      uuid not null references jobs on delete cascade,
    number      bigint not null,        -- of the page
    submissions uuid[] not null,
    leases      uuid[] not null,        -- of each submission, as agents and reported_at
    agents      uuid[] not null,
    reported_at timestamptz[] not null,
    posts       smallint[] not null,    -- of each attempt: which of the submissions it came with, from 1
    shards      smallint[] not null,    -- counted from the first of the page
    outputs     bytea[] not null,
    cpu_us      bigint[] not null,
    wall_us     bigint[] not null,
    peak_rss    bigint[] not null,
    diagnostics jsonb[] not null,
    primary key (job_id, number)
);

-- As rows of attempts. Whoever reads it says the job and the pages: all of a page is unpacked for one of its shards.
create view packed_attempts as
select p.job_id, p.number as page, p.number * 1024 + t.shard as shard, p.agents[t.post] as agent_id, p.leases[t.post] as lease_id,
    p.submissions[t.post] as submission_id, 'ok'::text as status, t.output, sha256(t.output) as output_digest, sha256(t.output) as outcome,
    octet_length(t.output)::bigint as output_bytes, t.cpu_us, t.wall_us, t.peak_rss, t.diagnostics, p.reported_at[t.post] as reported_at
from attempt_pages p
cross join unnest(p.posts, p.shards, p.outputs, p.cpu_us, p.wall_us, p.peak_rss, p.diagnostics)
    as t (post, shard, output, cpu_us, wall_us, peak_rss, diagnostics);

-- How far the attempts of an ended job are packed: the first page that is not; null: all are, or none is to be.
alter table jobs add column pack_next bigint default 0;
create index jobs_to_pack on jobs (finished_at) where pack_next is not null and state in ('finished', 'failed') and shards_total >= 64;
update jobs j set pack_next = null from archives c where c.job_id = j.id and c.state <> 'failed';
