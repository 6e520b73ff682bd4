select item from flags where scope = $1 and kind = $2 and rule = $3 and resolved_at is null limit $4
