select version from ostraka.guardian_policy
