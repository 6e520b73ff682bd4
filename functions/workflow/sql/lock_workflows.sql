-- So that two that are made at once are counted one after the other; runs that are started as well.
lock table workflows in share row exclusive mode
