select seq, leaf, at, actor, action, subject, detail, pruned_at from audit
where seq < $1 and ($3 = '' or actor = $3 and length(actor) <= 200) and ($4 = '' or action = $4 or starts_with(action, $4 || '.')) and ($5 = '' or subject = $5 and length(subject) <= 300)
    and ($6 = '' or actor = 'agent:' || $6 and length(actor) <= 200 or subject = $6 and length(subject) <= 300 or detail ->> 'agent' = $6)
    and ($7 = '' or (subject = $7 or starts_with(subject, $7 || '/')) and length(subject) <= 300 or detail ->> 'job' = $7)
    and ($8 = '' or subject = $8 and length(subject) <= 300 or detail ->> 'sandbox' = $8)
    and ($9 = '' or detail ->> 'decision' = $9)
    and ($12 = '' or detail ->> 'function' = $12 or subject = $12 and length(subject) <= 300 and starts_with(action, 'function.'))
    and ($10::timestamptz is null or at >= $10) and ($11::timestamptz is null or at < $11)
order by seq desc limit $2
