update guardian_policy set version = version + 1
