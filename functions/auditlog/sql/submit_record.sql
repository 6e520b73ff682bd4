-- The record that a job was submitted, with the digest of the secret by which its audits are drawn.
select seq, at, actor, action, subject, detail from audit where subject = $1 and length(subject) <= 300 and action = $2 and pruned_at is null order by seq limit 1
