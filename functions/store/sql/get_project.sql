select id, name, followups_enabled, revision, created_at from projects where id = $1
