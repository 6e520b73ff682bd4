package rest

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/api/limit"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/dispatch"
	"github.com/ostraka/ostraka/functions/tenant"
	"github.com/ostraka/ostraka/runtime/recheck"
)

// Identities is what the API asks of the domain about who somebody is by a secret.
type Identities interface {
	Authenticate(ctx context.Context, secret string) (functions.Principal, error)
	AuthenticateSession(ctx context.Context, secret string) (functions.Principal, error)
	// UseSignInLink says whose link it is, and spends it.
	UseSignInLink(ctx context.Context, secret string) (functions.Principal, error)
}

// Limits are what one client may ask of the server.
type Limits struct {
	PerAddress limit.Rate     // of requests that come from one address
	PerKey     limit.Rate     // of requests with one key
	Enrolments limit.Rate     // of agents that enrol from one address: two for each
	Proxies    limit.Proxies  // whose word about addresses is believed
	Polls      int64          // requests of one project that wait at a time; 0: as many as come. An agent has dispatch.MaxAgentPolls at most
	Streams    int64          // event streams of one project that are open at a time; 0: as many as come
	Loads      *recheck.Loads // of projects on this server; nil: those of their requests alone
}

// DefaultLimits are far above what people and agents do, and below what keeps others from their turn.
func DefaultLimits() Limits {
	return Limits{
		PerAddress: limit.PerSecond(200), PerKey: limit.PerSecond(tenant.DefaultRequests), Enrolments: limit.Rate{PerSecond: 4, Burst: 1000},
		Polls: tenant.DefaultPolls, Streams: tenant.DefaultStreams,
	}
}

// refusedFor is for how long it is remembered that a key is not valid.
const refusedFor = 30 * time.Second

// Doors are what a request passes before anything is asked of the database.
type Doors struct {
	proxies   limit.Proxies
	addresses *limit.Buckets
	enrolling *limit.Buckets
	keys      *limit.Buckets
	Refused   *limit.Refused
	bodies    *limit.Bytes
	places    *limit.Places
	usual     map[functions.QuotaName]int64 // of projects that have no values of their own
	turns     *recheck.Turns                // of projects' requests
	turnWait  time.Duration                 // for one of them
}

// NewDoors makes the doors for what one client may ask.
func NewDoors(l Limits) *Doors {
	return &Doors{
		proxies: l.Proxies, addresses: limit.NewBuckets(l.PerAddress, nil), enrolling: limit.NewBuckets(l.Enrolments, nil), keys: limit.NewBuckets(l.PerKey, nil),
		Refused: limit.NewRefused(refusedFor, nil), bodies: limit.NewBytes(bodiesHeld, bodiesHeldEach, bodiesWait), places: limit.NewPlaces(),
		usual: map[functions.QuotaName]int64{functions.QuotaPolls: l.Polls, functions.QuotaStreams: l.Streams},
		turns: recheck.NewOpenTurns(requestsAtOnce, requestsShared(), l.Loads), turnWait: turnWait,
	}
}

// address puts where a request comes from in place of a proxy's address.
func (d *Doors) address(r *http.Request) netip.Addr {
	address := d.proxies.Client(r)
	if len(d.proxies) > 0 && address.IsValid() && address != Peer(r).Unmap() {
		r.RemoteAddr = netip.AddrPortFrom(address, 0).String()
	}
	return address
}

// enter lets each address in as often as it may come.
func (s *Server) enter(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if name, counted := limit.Of(s.Doors.address(r)); counted {
			if wait, ok := s.Doors.addresses.Take(name); !ok {
				s.Metrics.refuse(refusedAddress)
				s.Refuse(w, r, tooManyRequests("address", s.Doors.addresses.Rate(), wait))
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// MayEnrol lets agents of each address in as often as they may come: a laboratory's that start together behind one router, and no flood.
func (s *Server) MayEnrol(r *http.Request) error {
	name, counted := limit.Of(s.Doors.address(r))
	if !counted {
		return nil
	}
	wait, ok := s.Doors.enrolling.Take(name)
	if ok {
		return nil
	}
	s.Metrics.refuse(refusedAddress)
	return tooManyRequests("address", s.Doors.enrolling.Rate(), wait)
}

// ByKey finds out whose key it is, without the database where it was refused a moment ago.
func (s *Server) ByKey(ctx context.Context, key string) (functions.Principal, error) {
	return s.notRefused(ctx, AsKey+key, key, s.service.Authenticate)
}

// As what a secret was refused: what is no key may be a cookie's.
const (
	AsKey    = "key "
	AsCookie = "cookie "
)

// notRefused finds out whose secret it is, if it was not refused by this name a moment ago.
func (s *Server) notRefused(ctx context.Context, name, secret string, find func(context.Context, string) (functions.Principal, error)) (functions.Principal, error) {
	if err := s.Doors.Refused.Why(name); err != nil {
		return functions.Principal{}, err
	}
	principal, err := find(ctx, secret)
	if p, known := ProblemOf(err); err != nil && known && p.Status == http.StatusUnauthorized {
		s.Doors.Refused.Add(name, err)
	}
	return principal, err
}

// MayAsk lets each key ask as often as it may. A browser's session counts as the key that it was opened with.
func (s *Server) MayAsk(p functions.Principal) error {
	rate := s.Doors.keys.Rate()
	if own, set := p.Quotas[functions.QuotaRequests]; set {
		rate = limit.PerSecond(float64(own))
	}
	wait, ok := s.Doors.keys.TakeAt(p.KeyID.String()+p.Subject, rate)
	if ok {
		return nil
	}
	s.Metrics.refuse(refusedKey)
	return tooManyRequests("key", rate, wait)
}

// mayWait gives a request that waits, or that is a stream, one of its project's places on this server. Agents are counted for themselves.
func (s *Server) mayWait(op Operation, c *Call) (release func(), err error) {
	name := functions.QuotaPolls
	switch {
	case op.Stream:
		name = functions.QuotaStreams
	case !op.Waits && c.Request.URL.Query().Get("wait") == "":
		return func() {}, nil
	}
	most, own := c.Principal.Quotas[name]
	if !own {
		most = s.Doors.usual[name]
	}
	if agent := c.Principal.Agent != uuid.Nil; agent && (most == 0 || most > dispatch.MaxAgentPolls) {
		most = dispatch.MaxAgentPolls
	}
	if most == 0 {
		return func() {}, nil
	}
	release, ok := s.Doors.places.Take(placeOf(name, c.Principal), most)
	if !ok {
		s.Metrics.refuse(string(name))
		return nil, tenant.QuotaReached(name, most)
	}
	return release, nil
}

func placeOf(name functions.QuotaName, p functions.Principal) string {
	switch {
	case p.Project != uuid.Nil:
		return string(name) + " of " + p.Project.String()
	case p.Agent != uuid.Nil:
		return string(name) + " of " + p.Agent.String()
	default:
		return string(name) + " of " + p.KeyID.String() + p.Subject
	}
}

// quotaHeaders say which limit was reached, and when it is worth asking again.
func quotaHeaders(q *functions.QuotaExceeded) http.Header {
	seconds := strconv.Itoa(int(math.Ceil(q.Again.Seconds())))
	return http.Header{
		"Retry-After":      {seconds},
		"Ratelimit":        {fmt.Sprintf(`"%s";r=%d;t=%s`, q.Name, max(0, q.Limit-q.Used), seconds)},
		"Ratelimit-Policy": {fmt.Sprintf(`"%s";q=%d`, q.Name, q.Limit)},
	}
}

func tooManyRequests(whose string, rate limit.Rate, wait time.Duration) *Problem {
	seconds := strconv.Itoa(int(math.Ceil(wait.Seconds())))
	p := NewProblem(http.StatusTooManyRequests, CodeTooManyRequests, fmt.Sprintf("this %s has sent more requests than %g a second", whose, rate.PerSecond),
		"wait as long as Retry-After says and send fewer at a time; the operator says how many there may be")
	p.headers = http.Header{
		"Retry-After":      {seconds},
		"Ratelimit":        {fmt.Sprintf(`"%s";r=0;t=%s`, whose, seconds)},
		"Ratelimit-Policy": {fmt.Sprintf(`"%s";q=%.0f;w=%.0f`, whose, rate.Burst, math.Ceil(rate.Burst/rate.PerSecond))},
	}
	return p
}
