select count(*) from guardian_overrides where ended_at is null and until > $1
