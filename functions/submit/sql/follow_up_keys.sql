-- The rule stands in the key: it may have been deleted since. So may the follow-ups, which count all the same.
select split_part(followup_key, ':', 2)::uuid as rule, parent_job as parent, split_part(followup_key, ':', 4) as number from jobs where root_job = $1 and followup_key is not null and state <> 'deleting'
union all
select split_part(followup_key, ':', 2)::uuid, parent_job, split_part(followup_key, ':', 4) from deleted_jobs where root_job = $1 and followup_key is not null
