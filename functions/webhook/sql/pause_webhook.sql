update webhooks set paused = true, pause_reason = $2 where id = $1
