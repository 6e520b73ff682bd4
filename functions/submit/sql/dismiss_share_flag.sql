-- The flag of a job about an owner's share is settled when the job is run again.
update flags set resolved_at = now(), resolved_by = 'server', resolution = 'dismiss', reason = $2, revision = revision + 1
where job_id = $1 and kind = 'share' and resolved_at is null
