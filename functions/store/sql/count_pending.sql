select exists (select from agents where public_key = $1) as known,
    (select count(*) from agents where state = 'pending') as pending
