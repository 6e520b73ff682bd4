package main

import "time"

// minPackAfter keeps what a job's end still sets going, such as its metrics and follow-ups, from meeting a page that is being packed; servers
// look for jobs to pack once a minute in any case.
const minPackAfter = time.Second

// checkPackAfter refuses a --pack-after that is too short.
func checkPackAfter(after time.Duration) error {
	if after < minPackAfter {
		return usageError("--pack-after is %v: at least %v, and as long as you like", after, minPackAfter)
	}
	return nil
}
