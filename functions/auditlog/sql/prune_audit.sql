update audit set actor = '', action = '', subject = '', detail = '{}', pruned_at = now()
where seq in (select seq from audit where leaf is not null and pruned_at is null and at < $1 and seq > $2 order by seq limit $3)
returning seq
