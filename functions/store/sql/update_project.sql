update projects set followups_enabled = coalesce($2, followups_enabled), revision = revision + 1 where id = $1 and revision = $3
