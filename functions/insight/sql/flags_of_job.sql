-- The open flags of a job, but for that of an owner's share: `job get` says the same in more words.
select kind, rule, count(*) as flags, sum(times)::bigint as times from flags
where job_id = $1 and resolved_at is null and kind <> 'share' group by kind, rule order by kind, rule limit $2
