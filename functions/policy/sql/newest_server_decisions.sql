select seq, at, actor, subject,
    jsonb_build_object('kind', detail -> 'operation', 'actor', detail -> 'by', 'subject', subject, 'facts', detail -> 'facts') as operation
from server_audit where action = 'guardian.decide' order by seq desc limit $1
