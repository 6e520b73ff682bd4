-- One transaction charges what is held for a while, and no second one soon after it.
update turns_charged set at = now() where at < now() - $1::interval
