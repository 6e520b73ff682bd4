-- So that two that are made at once are counted one after the other.
lock table schedules in share row exclusive mode
