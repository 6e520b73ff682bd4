package limit

import (
	"crypto/sha256"
	"sync"
	"time"
)

// maxRefused is how many keys that are not valid are remembered.
const maxRefused = 10_000

// Refused remembers for a while which keys were refused, so that asking again and again costs the database nothing. A key that was refused
// does not become valid: they are random, and their ends are final.
type Refused struct {
	keep time.Duration
	now  func() time.Time

	mu   sync.Mutex
	keys map[[sha256.Size]byte]refusal
	ages [][sha256.Size]byte // a ring of the keys, in which the oldest makes room
	next int
}

type refusal struct {
	err   error
	until time.Time
}

// NewRefused makes a memory of refusals. now is the time; nil: time.Now.
func NewRefused(keep time.Duration, now func() time.Time) *Refused {
	if now == nil {
		now = time.Now
	}
	return &Refused{keep: keep, now: now, keys: map[[sha256.Size]byte]refusal{}}
}

// Why is why the key was refused a moment ago; nil: it was not.
func (r *Refused) Why(key string) error {
	digest := sha256.Sum256([]byte(key))
	r.mu.Lock()
	defer r.mu.Unlock()
	if was, known := r.keys[digest]; known && r.now().Before(was.until) {
		return was.err
	}
	return nil
}

// Add remembers a refusal. Where too many are remembered, the oldest is forgotten.
func (r *Refused) Add(key string, err error) {
	digest := sha256.Sum256([]byte(key))
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, known := r.keys[digest]; !known {
		if len(r.ages) < maxRefused {
			r.ages = append(r.ages, digest)
		} else {
			delete(r.keys, r.ages[r.next])
			r.ages[r.next] = digest
			r.next = (r.next + 1) % maxRefused
		}
	}
	r.keys[digest] = refusal{err, r.now().Add(r.keep)}
}

// Forget forgets a refusal: the key is valid from now on.
func (r *Refused) Forget(key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.keys, sha256.Sum256([]byte(key)))
}
