update guardian_policy set four_eyes = $1, version = version + 1
