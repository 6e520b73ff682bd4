-- So that two that are made at the same time are counted one after the other.
lock table runtimes in share row exclusive mode
