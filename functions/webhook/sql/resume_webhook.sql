update webhooks set paused = false, pause_reason = '', failing_since = null where id = $1
