-- So that two pushes number their versions one after the other.
lock table modules in share row exclusive mode
