-- The server $1 has ended in good order. It stays on the list: it may be back in a moment.
update ostraka.recheckers set trouble = $2, trouble_since = coalesce(trouble_since, now()) where server_id = $1
