package api

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"github.com/ostraka/ostraka/api/limit"
	"github.com/ostraka/ostraka/functions"
)

// Limits are what one client may ask of the server.
type Limits struct {
	PerAddress limit.Rate    // of requests that come from one address
	PerKey     limit.Rate    // of requests with one key
	Enrolments limit.Rate    // of agents that enrol from one address: two for each
	Proxies    limit.Proxies // whose word about addresses is believed
}

// DefaultLimits are far above what people and agents do, and below what keeps others from their turn.
func DefaultLimits() Limits {
	return Limits{PerAddress: limit.Rate{PerSecond: 200, Burst: 2000}, PerKey: limit.Rate{PerSecond: 500, Burst: 5000}, Enrolments: limit.Rate{PerSecond: 4, Burst: 1000}}
}

// refusedFor is for how long it is remembered that a key is not valid.
const refusedFor = 30 * time.Second

// doors are what a request passes before anything is asked of the database.
type doors struct {
	proxies   limit.Proxies
	addresses *limit.Buckets
	enrolling *limit.Buckets
	keys      *limit.Buckets
	refused   *limit.Refused
	bodies    *limit.Bytes
}

func newDoors(l Limits) *doors {
	return &doors{
		proxies: l.Proxies, addresses: limit.NewBuckets(l.PerAddress, nil), enrolling: limit.NewBuckets(l.Enrolments, nil), keys: limit.NewBuckets(l.PerKey, nil),
		refused: limit.NewRefused(refusedFor, nil), bodies: limit.NewBytes(bodiesHeld, bodiesHeldEach, bodiesWait),
	}
}

// address puts where a request comes from in place of a proxy's address.
func (d *doors) address(r *http.Request) netip.Addr {
	address := d.proxies.Client(r)
	if len(d.proxies) > 0 && address.IsValid() && address != peer(r).Unmap() {
		r.RemoteAddr = netip.AddrPortFrom(address, 0).String()
	}
	return address
}

// enter lets each address in as often as it may come.
func (s *server) enter(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if name, counted := limit.Of(s.doors.address(r)); counted {
			if wait, ok := s.doors.addresses.Take(name); !ok {
				s.metrics.refuse("address")
				s.refuse(w, r, tooManyRequests("address", s.doors.addresses.Rate(), wait))
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// mayEnrol lets agents of each address in as often as they may come: a laboratory's that start together behind one router, and no flood.
func (s *server) mayEnrol(r *http.Request) error {
	name, counted := limit.Of(s.doors.address(r))
	if !counted {
		return nil
	}
	wait, ok := s.doors.enrolling.Take(name)
	if ok {
		return nil
	}
	s.metrics.refuse("address")
	return tooManyRequests("address", s.doors.enrolling.Rate(), wait)
}

// byKey finds out whose key it is, without the database where it was refused a moment ago.
func (s *server) byKey(ctx context.Context, key string) (functions.Principal, error) {
	if err := s.doors.refused.Why(key); err != nil {
		return functions.Principal{}, err
	}
	principal, err := s.service.Authenticate(ctx, key)
	if p, known := problemOf(err); err != nil && known && p.Status == http.StatusUnauthorized {
		s.doors.refused.Add(key, err)
	}
	return principal, err
}

// mayAsk lets each key ask as often as it may. A browser's session counts as the key that it was opened with.
func (s *server) mayAsk(p functions.Principal) error {
	wait, ok := s.doors.keys.Take(p.KeyID.String() + p.Subject)
	if ok {
		return nil
	}
	s.metrics.refuse("key")
	return tooManyRequests("key", s.doors.keys.Rate(), wait)
}

func tooManyRequests(whose string, rate limit.Rate, wait time.Duration) *Problem {
	seconds := strconv.Itoa(int(math.Ceil(wait.Seconds())))
	p := newProblem(http.StatusTooManyRequests, codeTooManyRequests, fmt.Sprintf("this %s has sent more requests than %g a second", whose, rate.PerSecond),
		"wait as long as Retry-After says and send fewer at a time; the operator says how many there may be")
	p.headers = http.Header{
		"Retry-After":      {seconds},
		"Ratelimit":        {fmt.Sprintf(`"%s";r=0;t=%s`, whose, seconds)},
		"Ratelimit-Policy": {fmt.Sprintf(`"%s";q=%.0f;w=%.0f`, whose, rate.Burst, math.Ceil(rate.Burst/rate.PerSecond))},
	}
	return p
}
