update rules set name = $2, spec = $3::jsonb, revision = revision + 1, updated_at = now() where id = $1 and revision = $4
