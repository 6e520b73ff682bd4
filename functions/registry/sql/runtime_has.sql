select exists (select from runtime_objects where runtime = $1 and digest = $2)
