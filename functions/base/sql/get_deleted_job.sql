select deleted_by, deleted_at from deleted_jobs where id = $1
