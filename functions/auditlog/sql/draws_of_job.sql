select draws_sha256 from jobs where id = $1
