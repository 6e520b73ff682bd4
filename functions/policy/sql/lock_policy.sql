select 1 from guardian_policy for update
