-- What a submission with a bound is weighed with: the secret that chooses audits, and whether some server can recheck ($2: how long ago
-- one was seen at most, and for how long one may have been unable to).
select s.secret, exists (
    select from recheckers r where r.seen_at > now() - $2::interval and (r.trouble = '' or r.trouble_since > now() - $2::interval)
) as rechecks from project_secrets s where s.project_id = $1
