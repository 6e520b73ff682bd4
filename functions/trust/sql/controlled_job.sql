select partition, validator from jobs where id = $1
