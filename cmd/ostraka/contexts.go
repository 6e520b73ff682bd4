package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/ostraka/ostraka/agent/wholefile"
)

// maxContexts bounds the file of contexts.
const maxContexts = 100

// contextName is what a context may be called: it stands in command lines and in tables.
var contextName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,62}$`)

// savedContext is a server with the key and the project to use there, which `ostraka login` keeps.
type savedContext struct {
	Name    string `json:"name"`
	URL     string `json:"url"`
	Project string `json:"project,omitempty"` // its ID; operators have none
	Key     string `json:"key"`
}

// savedContexts are the contexts of a person on this machine. They stand in one file, which only that person may read.
type savedContexts struct {
	Current  string         `json:"current"`
	Contexts []savedContext `json:"contexts"`
}

// contextsFile is where the contexts of the person stand.
func contextsFile(env func(string) string) (string, error) {
	if file := env("OSTRAKA_CONTEXTS"); file != "" {
		return file, nil
	}
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("finding your folder for settings: %w", err)
	}
	return filepath.Join(dir, "ostraka", "contexts.json"), nil
}

// readContexts reads the contexts. Where there is no file there are none.
func readContexts(file string) (savedContexts, error) {
	var all savedContexts
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	if err != nil {
		return all, fmt.Errorf("reading the contexts: %w", err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return all, errors.Join(err, &exitError{
			code: exitAuth, err: fmt.Errorf("%s holds keys, and others on this machine can read it", file), hint: "chmod 600 " + shellWord(file),
		})
	}
	in := json.NewDecoder(f)
	in.DisallowUnknownFields()
	if err := in.Decode(&all); err != nil {
		return all, &exitError{code: exitUsage, err: fmt.Errorf("%s is not a file of contexts: %w", file, err), hint: "remove it, and run ostraka login again"}
	}
	return all, nil
}

// write keeps the contexts.
func (s savedContexts) write(file string) error {
	slices.SortFunc(s.Contexts, func(a, b savedContext) int { return strings.Compare(a.Name, b.Name) })
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding the contexts: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return fmt.Errorf("keeping the contexts: %w", err)
	}
	if err := wholefile.Write(file, append(text, '\n'), 0o600); err != nil {
		return fmt.Errorf("keeping the contexts: %w", err)
	}
	return nil
}

// find returns the context of that name.
func (s savedContexts) find(name string) (savedContext, error) {
	at := slices.IndexFunc(s.Contexts, func(c savedContext) bool { return c.Name == name })
	if at < 0 {
		return savedContext{}, &exitError{code: exitUsage, err: fmt.Errorf("there is no context %q", name), hint: "ostraka context list shows those that there are; ostraka login makes one"}
	}
	return s.Contexts[at], nil
}

// put adds a context, or replaces the one of its name, and makes it the current one.
func (s *savedContexts) put(c savedContext) error {
	s.remove(c.Name)
	if len(s.Contexts) >= maxContexts {
		return &exitError{code: exitUsage, err: fmt.Errorf("there are %d contexts, which is as many as there may be", len(s.Contexts)), hint: "ostraka context remove NAME"}
	}
	s.Contexts, s.Current = append(s.Contexts, c), c.Name
	return nil
}

// remove forgets the context of that name.
func (s *savedContexts) remove(name string) {
	s.Contexts = slices.DeleteFunc(s.Contexts, func(c savedContext) bool { return c.Name == name })
	if s.Current == name {
		s.Current = ""
	}
}
