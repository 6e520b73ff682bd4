-- The oldest records that are older than $1. What is never pruned is in the index that this goes by: migration project/066.
update audit set actor = '', action = '', subject = '', detail = '{}', pruned_at = now()
where seq in (
    select seq from audit where leaf is not null and pruned_at is null and at < $1 and action not in ('audit.restart', 'agent.key') and actor <> 'server:retention'
    order by at limit $2
)
