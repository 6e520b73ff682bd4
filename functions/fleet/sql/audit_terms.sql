-- What a submission with a bound is weighed with: the secret that chooses audits, and whether some server can recheck ($2: how long ago
-- one was seen at most, and for how long one may have been unable to), which has the volumes $3.
select s.secret, exists (
    select from recheckers r where r.seen_at > now() - $2::interval and (r.trouble = '' or r.trouble_since > now() - $2::interval)
      and ostraka.has_volumes(r.volumes, $1, ostraka.volumes_read(coalesce($3::jsonb, '[]')))
) as rechecks from project_secrets s where s.project_id = $1
