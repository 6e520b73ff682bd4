//go:build linux

package main

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
	"github.com/ostraka/ostraka/devdb"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/engine"
	"github.com/ostraka/ostraka/functions/fleet"
)

const (
	// devStopLimit is how long everything gets to stop before it is ended at any price.
	devStopLimit = 45 * time.Second
	// devJoin is how long agents may take to join before the machine is called ready: they do within some seconds, or something is wrong.
	devJoin = 15 * time.Second
	// devLeaseWork is how much work an agent of `ostraka dev` asks for at a time: less than an agent far away, so that progress is
	// seen and the last shards do not wait for one slow lease.
	devLeaseWork = 1500 * time.Millisecond
	// devProject is the name of the project that `ostraka dev` makes.
	devProject = "dev"
)

// devConfig says what `ostraka dev` runs.
type devConfig struct {
	Dir            string // "": a temporary one
	Listen         string
	Agents         int
	Liars          int
	LiarKinds      []string // of the liars, in turn; none: random
	LieProbability float64
	LieAfter       int64
	DatabaseURL    string // "": the embedded Postgres
	Objects        objectConfig
	FollowupsOff   bool
	PackAfter      time.Duration // as in serverConfig
	Recheck        recheckConfig
	Webhooks       webhookConfig
	Sign           bool   // functions are signed with a key of this run, and agents execute no others
	Python         string // as in agent.Options
	PythonDir      string // where the embedded one is unpacked
	Terminal       *terminal
	Log            *slog.Logger
}

// dev is everything on this machine: database, server and agents.
type dev struct {
	config devConfig
	dir    *devDir
	info   devInfo
	server *server
	portal string // a link that signs a browser in as the project's owner, once; "": none
	agents []devAgent
	signer ed25519.PrivateKey            // nil: functions are not signed
	stops  []func(context.Context) error // what was started, in that order
}

// startDev starts everything. When it fails, or the context ends before all stands, it stops again what it has started.
func startDev(ctx context.Context, config devConfig) (*dev, error) {
	d := &dev{config: config}
	if err := d.start(ctx); err != nil {
		if ctx.Err() != nil {
			err = ctx.Err() // the rest is only what that looks like from further down
		}
		return nil, errors.Join(err, d.stop())
	}
	return d, nil
}

func (d *dev) start(ctx context.Context) error {
	var err error
	if d.dir, err = openDevDir(d.config.Dir); err != nil {
		return err
	}
	d.onStop(func(context.Context) error { return d.dir.close() })
	if d.info, err = d.dir.readInfo(); err != nil {
		return err
	}
	// The address comes first: it is most often unavailable, and takes no time to find out.
	listener, err := d.listen(ctx)
	if err != nil {
		return err
	}
	d.onStop(func(context.Context) error { return ignoreClosed(listener.Close()) })
	if d.info.DatabaseURL, err = d.startDatabase(ctx); err != nil {
		return err
	}
	if err := d.unpackPython(ctx); err != nil {
		return err
	}
	if err := d.startServer(ctx, listener); err != nil {
		return err
	}
	if d.config.Sign {
		if err := d.makeSigner(ctx); err != nil {
			return fmt.Errorf("making the signing key: %w", err)
		}
	}
	d.agents = devAgents(d.config.Agents, d.config.Liars, d.config.LiarKinds)
	if err := d.ensureAgentTokens(ctx); err != nil {
		return fmt.Errorf("making the agents' tokens: %w", err)
	}
	if err := d.dir.writeInfo(d.info); err != nil {
		return err
	}
	d.startAgents(ctx)
	return ctx.Err()
}

// listen takes the address that was asked for. Where any port will do it is the one of the run before, which shells and browsers know, and
// another one where that is taken.
func (d *dev) listen(ctx context.Context) (net.Listener, error) {
	host, port, err := net.SplitHostPort(d.config.Listen)
	before, urlErr := url.Parse(d.info.URL)
	if err == nil && port == "0" && urlErr == nil && before.Port() != "" {
		address := net.JoinHostPort(host, before.Port())
		if listener, err := listen(ctx, address); err == nil {
			return listener, nil
		}
		d.config.Log.Warn("the port of the run before is taken: read dev.env again", "address", address)
	}
	return listen(ctx, d.config.Listen)
}

func (d *dev) onStop(stop func(context.Context) error) { d.stops = append(d.stops, stop) }

// stop stops what was started, the last first. It does not take its time from the context that ended us.
func (d *dev) stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), devStopLimit)
	defer cancel()
	var all error
	for i := len(d.stops) - 1; i >= 0; i-- {
		all = errors.Join(all, d.stops[i](ctx))
	}
	d.stops = nil
	return all
}

// startDatabase returns the URL of the database: the one that was given, or that of an embedded Postgres.
func (d *dev) startDatabase(ctx context.Context) (string, error) {
	if d.config.DatabaseURL != "" {
		return d.config.DatabaseURL, nil
	}
	db, err := devdb.Start(ctx, devdb.Options{Dir: d.dir.database(), Log: d.config.Log, Disposable: d.dir.temporary})
	if errors.Is(err, devdb.ErrNotInstalled) {
		return "", &exitError{code: exitFailed, err: err, hint: "or use a server that runs somewhere: --database-url"}
	}
	if err != nil {
		return "", err
	}
	keep, stopKeeping := context.WithCancel(context.WithoutCancel(ctx))
	var kept sync.WaitGroup
	kept.Go(func() { keepDatabase(keep, db, d.config.Log) })
	d.onStop(func(ctx context.Context) error {
		stopKeeping()
		kept.Wait()
		return db.Stop(ctx)
	})
	return db.URL(), nil
}

func (d *dev) startServer(ctx context.Context, listener net.Listener) error {
	objects := d.config.Objects
	if objects.S3Endpoint == "" {
		objects.Dir = d.dir.objects()
	}
	server, err := startServer(ctx, serverConfig{
		DatabaseURL: d.info.DatabaseURL, Listener: listener, Objects: objects, CacheDir: d.dir.cache(),
		FollowupsOff: d.config.FollowupsOff, PackAfter: d.config.PackAfter, Log: d.config.Log, Recheck: d.config.Recheck, Webhooks: d.config.Webhooks,
	})
	if err != nil {
		return err
	}
	d.server = server
	d.onStop(server.stop)
	d.info.URL = serverURL(listener)
	return d.ensureKeys(ctx)
}

// ensureKeys makes what dev.json of an earlier run does not hold, or what the database does not know any more.
func (d *dev) ensureKeys(ctx context.Context) error {
	service := d.server.service
	operator, err := d.ensureOperator(ctx, service)
	if err != nil {
		return fmt.Errorf("making the operator's key: %w", err)
	}
	if owner, err := service.Authenticate(ctx, d.info.OwnerKey); err == nil && owner.Role == functions.RoleOwner && owner.Project.String() == d.info.Project {
		return nil
	}
	if err := d.makeProject(ctx, service, operator); err != nil {
		return fmt.Errorf("making the project: %w", err)
	}
	return nil
}

func (d *dev) ensureOperator(ctx context.Context, service *engine.Service) (functions.Principal, error) {
	if p, err := service.Authenticate(ctx, d.info.OperatorKey); err == nil && p.Role == functions.RoleOperator {
		return p, nil
	}
	_, secret, err := service.CreateOperatorKey(ctx, "ostraka dev", nil)
	if err != nil {
		return functions.Principal{}, err
	}
	d.info.OperatorKey = secret
	return service.Authenticate(ctx, secret)
}

// makeProject makes the project, or new keys of one that an earlier run made and did not get to write down.
func (d *dev) makeProject(ctx context.Context, service *engine.Service, operator functions.Principal) error {
	project, ownerKey, err := d.findOrCreate(ctx, service, operator)
	if err != nil {
		return err
	}
	if ownerKey == "" {
		if _, ownerKey, _, err = service.CreateKey(ctx, operator, project, "ostraka dev", functions.RoleOwner, nil, functions.Idempotency{}); err != nil {
			return err
		}
	}
	_, token, _, err := service.CreateEnrolmentToken(ctx, operator, project, devToken("ostraka dev", ""), functions.Idempotency{})
	if err != nil {
		return err
	}
	d.info.Project, d.info.OwnerKey, d.info.EnrolmentToken, d.info.AgentTokens = project.String(), ownerKey, token, nil
	return nil
}

// ensureAgentTokens makes a token for each agent that has none from an earlier run.
func (d *dev) ensureAgentTokens(ctx context.Context) error {
	service := d.server.service
	operator, err := service.Authenticate(ctx, d.info.OperatorKey)
	if err != nil {
		return err
	}
	project, err := uuid.Parse(d.info.Project)
	if err != nil {
		return fmt.Errorf("reading the project's ID: %w", err)
	}
	if d.info.AgentTokens == nil {
		d.info.AgentTokens = map[string]string{}
	}
	for _, a := range d.agents {
		if d.info.AgentTokens[a.name] != "" {
			continue
		}
		_, token, _, err := service.CreateEnrolmentToken(ctx, operator, project, devToken("ostraka dev "+a.name, a.name), functions.Idempotency{})
		if err != nil {
			return err
		}
		d.info.AgentTokens[a.name] = token
	}
	return nil
}

func (d *dev) findOrCreate(ctx context.Context, service *engine.Service, operator functions.Principal) (id uuid.UUID, ownerKey string, err error) {
	for after := ""; ; {
		projects, err := service.ListProjects(ctx, functions.ListPage{After: after, Limit: functions.MaxListLimit})
		if err != nil {
			return uuid.Nil, "", err
		}
		for _, p := range projects {
			if p.Name == devProject {
				return p.ID, "", nil
			}
			after = p.ID.String()
		}
		if len(projects) < functions.MaxListLimit {
			break
		}
	}
	project, ownerKey, _, err := service.CreateProject(ctx, operator, devProject, functions.Idempotency{})
	return project.ID, ownerKey, err
}

// connect makes a connection as the project's owner.
func (d *dev) connect() (*connection, error) {
	c, err := dial(d.info.URL, d.info.OwnerKey)
	if err != nil {
		return nil, err
	}
	c.project, err = uuid.Parse(d.info.Project)
	return c, err
}

// unpackPython does what the agents would otherwise do, unseen.
func (d *dev) unpackPython(ctx context.Context) error {
	if d.config.Agents == 0 {
		return nil
	}
	dir, err := pythonDir(d.config.Terminal)
	if err != nil {
		return err
	}
	tree, err := openPython(ctx, d.config.Terminal, d.config.Python)
	if err != nil {
		return err
	}
	d.config.PythonDir = dir
	return tree.Release() // each agent holds it for itself
}

func (d *dev) startAgents(ctx context.Context) {
	d.agents = devAgents(d.config.Agents, d.config.Liars, d.config.LiarKinds)
	children := make([]*child, len(d.agents))
	for i, a := range d.agents {
		children[i] = a.child(d.dir, d.info, d.config)
	}
	stop := keepAll(ctx, children)
	d.onStop(func(context.Context) error {
		stop()
		return nil
	})
}

// awaitAgents gives the agents some time to join: a job that is submitted before is warned about machines that are missing. Without
// them all else runs, and their logs say why they do not come.
func (d *dev) awaitAgents(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, devJoin)
	defer cancel()
	c, err := d.connect()
	if err != nil {
		return
	}
	for {
		doc, err := answer.Read[pageOf[client.ProjectAgent]](c.ListProjectAgents(ctx, c.project, &client.ListProjectAgentsParams{Limit: new(int64(pageSize))}))
		if err == nil && len(doc.Value.Items) >= d.config.Agents {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(demoAsk):
		}
	}
}

func ignoreClosed(err error) error {
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// devToken is as good as without an end: it stays on this machine, in a folder that may lie there for years.
func devToken(name, owner string) fleet.NewEnrolmentToken {
	return fleet.NewEnrolmentToken{Name: name, Owner: owner, Expires: &functions.Expiry{Seconds: int64(functions.MaxLifetime.Seconds())}, MaxUses: functions.MaxTokenUses}
}
