-- That a log began anew is never pruned: who reads the log must see where, and why. Nor are the keys of agents: receipts are checked with them.
update audit set actor = '', action = '', subject = '', detail = '{}', pruned_at = now()
where seq in (
    select seq from audit where leaf is not null and pruned_at is null and at < $1 and seq > $2 and action not in ('audit.restart', 'agent.key') order by seq limit $3
)
returning seq
