package volume

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/google/uuid"
)

// Mapping says which folder of a machine a volume is there.
type Mapping struct {
	Name     string
	Path     string // without any link
	Mode     Mode
	Projects []uuid.UUID // that it is for; none: all
	MaxBytes int64       // that functions may keep in it, all of them together; 0: they only read it
}

// IsFor says whether a volume is for a project.
func (m Mapping) IsFor(project uuid.UUID) bool {
	return len(m.Projects) == 0 || slices.Contains(m.Projects, project)
}

// Offer is a volume that functions may have on a machine, as others are told: no path is part of it.
type Offer struct {
	Name        string      `json:"name"`
	Mode        Mode        `json:"mode"`
	Fingerprint string      `json:"fingerprint,omitempty"` // empty: it has none, or none yet
	Projects    []uuid.UUID `json:"projects,omitempty"`    // that it is for; none: all
}

// Suits says whether the volume is one that a function of a project wants.
func (o Offer) Suits(project uuid.UUID, name string, mode Mode, fingerprint string) bool {
	return o.Name == name && o.Mode == mode && (fingerprint == "" || o.Fingerprint == fingerprint) &&
		Mapping{Projects: o.Projects}.IsFor(project)
}

// Book is what a machine knows of its volumes. It may be used by several goroutines at once.
type Book struct {
	dir     string
	blocked Blocklist
	written *Writable
	log     *slog.Logger

	mu     sync.Mutex
	list   []Mapping // as the last look had it
	offers []Offer
	notes  map[string]note // by name
	told   map[string]string
}

// NewBook makes a book that keeps in a folder what it knows of volumes.
func NewBook(dir string, blocked Blocklist, log *slog.Logger) *Book {
	return &Book{dir: dir, blocked: blocked, written: NewWritable(log), log: log, notes: map[string]note{}, told: map[string]string{}}
}

// Offers are the volumes that can be shown, by name, as the last look found them.
func (b *Book) Offers() []Offer {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.offers)
}

// Look opens each volume, and reads what has changed in it for its fingerprint. Those that can be shown are offered at once, and changed is called
// whenever the offers have changed: a large volume is read for a long time.
func (b *Book) Look(ctx context.Context, list []Mapping, changed func()) {
	if !Supported {
		return
	}
	b.mu.Lock()
	b.list = slices.Clone(list)
	b.mu.Unlock()
	var shown []Mapping
	var offers []Offer
	for _, v := range list {
		if err := b.try(v); err != nil {
			b.complain(v.Name, err)
			continue
		}
		shown = append(shown, v)
		offers = append(offers, Offer{Name: v.Name, Mode: v.Mode, Projects: v.Projects, Fingerprint: b.offeredPrint(v)})
	}
	b.offer(offers, changed)
	for i, v := range shown {
		if v.Mode == ReadWrite {
			continue // each sandbox finds something else in it
		}
		taken, err := b.fingerprint(ctx, v)
		if ctx.Err() != nil {
			return
		}
		if b.complain(v.Name, err); err != nil {
			taken = ""
		}
		if offers[i].Fingerprint != taken {
			offers = slices.Clone(offers)
			offers[i].Fingerprint = taken
			b.offer(offers, changed)
		}
	}
	b.forget(list)
}

// offeredPrint is the fingerprint that is known already; a volume that functions write to has none.
func (b *Book) offeredPrint(v Mapping) string {
	if v.Mode == ReadWrite {
		return ""
	}
	return b.noted(v).Fingerprint
}

func (b *Book) try(v Mapping) error {
	if err := b.apart(v); err != nil {
		return err
	}
	folder, err := Open(v.Name, v.Path, b.blocked)
	if err != nil {
		return err
	}
	return folder.Close()
}

// apart says why a volume cannot be shown beside the others.
func (b *Book) apart(v Mapping) error {
	b.mu.Lock()
	others := b.list
	b.mu.Unlock()
	return v.apartOnDisk(others)
}

func (b *Book) offer(offers []Offer, changed func()) {
	b.mu.Lock()
	same := slices.EqualFunc(b.offers, offers, func(x, y Offer) bool {
		return x.Name == y.Name && x.Mode == y.Mode && x.Fingerprint == y.Fingerprint && slices.Equal(x.Projects, y.Projects)
	})
	b.offers = offers
	b.mu.Unlock()
	if !same {
		changed()
	}
}

// complain says what is wrong with a volume, once.
func (b *Book) complain(name string, err error) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	b.mu.Lock()
	news := b.told[name] != text
	b.told[name] = text
	b.mu.Unlock()
	switch {
	case !news || errors.Is(err, context.Canceled):
	case err == nil:
		b.log.Info("a volume is as it should be", "volume", name)
	case errors.Is(err, ErrTooLarge):
		b.log.Warn("a volume has no fingerprint: functions that want a certain copy do not get it", "volume", name, "why", err)
	default:
		b.log.Error("a volume cannot be shown to functions, or has no fingerprint", "volume", name, "why", err)
	}
}

// fingerprint reads what has changed in a volume since it was read last.
func (b *Book) fingerprint(ctx context.Context, v Mapping) (string, error) {
	folder, err := Open(v.Name, v.Path, b.blocked)
	if err != nil {
		return "", err
	}
	defer func() { _ = folder.Close() }() // it was only read
	return b.fingerprintOf(ctx, v, folder)
}

func (b *Book) fingerprintOf(ctx context.Context, v Mapping, folder *Folder) (string, error) {
	before := b.noted(v)
	taken, files, err := folder.Fingerprint(ctx, before.Files)
	if err != nil {
		return "", err
	}
	b.keep(v, before, note{Path: v.Path, Fingerprint: taken, Files: files})
	return taken, nil
}

// Refusal is why a function does not get a volume. Text names no path of the machine, and may be told to others; Why is for the machine's owner.
type Refusal struct {
	Text string
	Why  error
}

// Error implements error.
func (r *Refusal) Error() string { return r.Text }

// Unwrap gives the reason.
func (r *Refusal) Unwrap() error { return r.Why }

// Borrower is the function that a folder is opened for.
type Borrower struct {
	Project  uuid.UUID
	Function string // its name
}

// Lend opens the folder of a volume for a function that wants it in a mode and, unless it is empty, with a fingerprint. The caller closes it. What
// cannot be shown, and a copy that is another one, is a *Refusal.
func (b *Book) Lend(ctx context.Context, m Mapping, who Borrower, mode Mode, fingerprint string) (*Folder, error) {
	refuse := func(why error, text string) error { return &Refusal{Text: "volume " + m.Name + ": " + text, Why: why} }
	if mode != m.Mode {
		return nil, refuse(nil, fmt.Sprintf("the function wants it with mode %q, and the owner of this machine shows it with mode %q", mode, m.Mode))
	}
	if err := b.apart(m); err != nil {
		return nil, refuse(err, "this machine cannot show it now; its own log says why")
	}
	if mode == ReadWrite {
		folder, err := b.written.Lend(m, who.Project, who.Function, b.blocked)
		if err != nil {
			return nil, refuse(err, "this machine cannot show it now; its own log says why")
		}
		return folder, nil
	}
	folder, err := Open(m.Name, m.Path, b.blocked)
	if err != nil {
		return nil, refuse(err, "this machine cannot show it now; its own log says why")
	}
	if fingerprint == "" {
		return folder, nil
	}
	taken, err := b.fingerprintOf(ctx, m, folder)
	if err == nil && taken == fingerprint {
		return folder, nil
	}
	_ = folder.Close() // it was only read
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, refuse(err, "its fingerprint cannot be taken now; this machine's own log says why")
	}
	return nil, refuse(nil, "this machine's copy is not the one that the function pins")
}

// forget removes what is known of volumes that there are no more.
func (b *Book) forget(list []Mapping) {
	entries, err := os.ReadDir(b.dir)
	if err != nil {
		return // there is nothing to forget
	}
	for _, e := range entries {
		if !slices.ContainsFunc(list, func(v Mapping) bool { return noteName(v.Name) == e.Name() }) {
			_ = os.Remove(filepath.Join(b.dir, e.Name())) // it is tried again
		}
	}
}
