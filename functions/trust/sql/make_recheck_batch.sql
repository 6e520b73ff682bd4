-- Where something waits in the lane $3 and no batch is about to take it up, one more, up to $2 of them at a time. What switches hold ($4, $5: as
-- in claim_rechecks) waits for them, and so does what the guardian holds ($6: the version of the operators' rules).
insert into recheck_batches (id, long)
select $1, $3 where not exists (select from recheck_batches where started_at is null and long = $3)
  and (select count(*) from recheck_batches where long = $3) < $2
  and exists (
    select from rechecks r join jobs j on j.id = r.job_id join functions f on f.id = j.function_id
    where r.batch is null and r.long = $3 and not exists (
        select from unnest($4::text[], $5::int[]) as h (function, version)
        where h.function = '' or h.function = f.name and h.version in (0, j.function_version)
    )
      and not exists (
        select from recheck_holds h where h.job_id = r.job_id and h.until > now() and h.operator_version = $6
          and h.project_version = (select version from guardian_policy)
      )
  )
