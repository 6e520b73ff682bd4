select policy from jobs where id = $1
