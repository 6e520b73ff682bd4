-- The newest decisions, each as the operation that it was about.
select seq, at, actor, subject,
    jsonb_build_object('kind', detail -> 'operation', 'actor', detail -> 'by', 'subject', subject, 'facts', detail -> 'facts') as operation
from audit where action = 'guardian.decide' and pruned_at is null order by seq desc limit $1
