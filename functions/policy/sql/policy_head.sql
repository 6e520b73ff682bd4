select version, four_eyes from guardian_policy
