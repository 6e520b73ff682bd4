-- The rule stands in the key: it may have been deleted since.
select split_part(followup_key, ':', 2)::uuid as rule, parent_job as parent from jobs where root_job = $1 and followup_key is not null
