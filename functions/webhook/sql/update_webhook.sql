update webhooks set url = $2, kinds = $3, failing_since = case when url = $2 then failing_since end, last_error = case when url = $2 then last_error else '' end
where id = $1
