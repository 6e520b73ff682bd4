-- Packs what there is to pack of page $2 of the job $1, which has ended: the attempts of shards that are accepted for good and of which each
-- attempt is a plain success of an agent with the same output, of at most $4 bytes, and with no more than that of diagnostics. The others stay
-- as they are: of each of them something is asked that has an index, or it would make a page large. $3 is the server.
with plain as materialized (
    select s.number from shards s
    cross join lateral (
        select bool_and(coalesce(a.status = 'ok' and a.agent_id <> $3 and not a.void and not a.unconfirmed and a.matters is null
                and octet_length(a.output) <= $4 and a.output_bytes = octet_length(a.output) and a.output_digest = sha256(a.output) and a.outcome = a.output_digest
                and not coalesce(a.diagnostics ? 'files', false) and coalesce(octet_length(a.diagnostics::text) <= $4, true)
                and b.lease_id = a.lease_id and b.agent_id = a.agent_id and b.received_at = a.reported_at and b.verified_at is not null, false)) as all_plain,
            count(distinct a.outcome) as answers
        from attempts a left join submissions b on b.id = a.submission_id
        where a.job_id = s.job_id and a.shard = s.number
    ) a
    where s.job_id = $1 and s.number >= $2 * 1024 and s.number < ($2 + 1) * 1024 and s.state = 'accepted' and s.awaits is null and s.lent = 0
        and a.all_plain and a.answers = 1
),
gone as (
    delete from attempts a using plain p where a.job_id = $1 and a.shard = p.number
    returning a.shard, a.agent_id, a.lease_id, a.submission_id, a.output, a.cpu_us, a.wall_us, a.peak_rss, a.diagnostics, a.reported_at
),
posted as (
    select g.*, dense_rank() over (order by submission_id) as post from gone g
),
posts as (
    select array_agg(submission_id order by post) as submissions, array_agg(lease_id order by post) as leases,
        array_agg(agent_id order by post) as agents, array_agg(reported_at order by post) as reported_at
    from (select distinct post, submission_id, lease_id, agent_id, reported_at from posted) p
)
insert into attempt_pages (job_id, number, submissions, leases, agents, reported_at, posts, shards, outputs, cpu_us, wall_us, peak_rss, diagnostics)
select $1, $2, p.submissions, p.leases, p.agents, p.reported_at, a.* from posts p
cross join (
    select array_agg(post::smallint order by shard, post) as posts, array_agg((shard - $2 * 1024)::smallint order by shard, post) as shards,
        array_agg(output order by shard, post), array_agg(cpu_us order by shard, post), array_agg(wall_us order by shard, post),
        array_agg(peak_rss order by shard, post), array_agg(diagnostics order by shard, post)
    from posted
) a
where a.posts is not null
