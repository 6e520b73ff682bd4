-- So that two that are made at once are counted one after the other.
lock table webhooks in share row exclusive mode
