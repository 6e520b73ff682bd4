package base

import "time"

// PruneBefore is when the records were written, at the latest, that a log loses the content of which it keeps for so many days. It is the beginning
// of a day, in UTC, so that a log has one record a day about what was pruned, and not one an hour.
func PruneBefore(now time.Time, days int) time.Time {
	return now.UTC().Truncate(24*time.Hour).AddDate(0, 0, -days)
}
