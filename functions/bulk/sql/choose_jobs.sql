-- $5: whether the action is for jobs that have ended.
select r.id as item, 0::bigint as revision, '' as was from job_rows r
where r.state <> 'deleting' and (r.state in ('finished', 'failed', 'cancelled')) = $5 and ($2::uuid[] is null or r.id = any ($2))
    and ($3 = '' or r.state = $3) and ($4 = '' or r.function_name = $4)
order by r.id limit $1
