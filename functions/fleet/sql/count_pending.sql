select exists (select from agents where public_key = $1) as known,
    (select count(*) from agents where state = 'pending') as pending,
    (select count(*) from agents where state = 'pending' and asked_from = $2 and $2 <> '') as from_there
