select partition from jobs where id = $1
