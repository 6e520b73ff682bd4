-- Since it asked, and not since it was heard of last: nobody who waits keeps himself there.
delete from agents where state = 'pending' and created_at < now() - $1::interval
