select heuristics from jobs where id = $1
