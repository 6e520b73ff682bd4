-- Values that are null in $2 are the server's defaults from now on.
update projects set quotas = jsonb_strip_nulls(quotas || $2::jsonb), revision = revision + 1 where id = $1
