select exists (select from jobs where state = 'splitting' and split_at < 'infinity')
