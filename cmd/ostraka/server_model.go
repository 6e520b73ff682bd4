//go:build linux

package main

import (
	"errors"
	"io/fs"

	"github.com/spf13/pflag"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/heuristics"
	"github.com/ostraka/ostraka/runtime/model"
)

// modelConfig is the external model that projects may ask; none by default.
type modelConfig struct {
	model.Options
	Calls  int64
	Tokens int64
}

func (c *modelConfig) register(f *pflag.FlagSet) {
	f.StringVar(&c.URL, "model-url", "", "API of an external model, OpenAI-compatible, that projects may ask as a heuristic, for example http://127.0.0.1:8080/v1; left out: none")
	f.StringVar(&c.Model, "model-name", "", "the name of the external model")
	f.StringVar(&c.KeyFile, "model-key-file", "", "file with the key for the external model; left out: it asks for none")
	f.Int64Var(&c.Calls, "model-calls", heuristics.DefaultModelCalls, "how often a project may ask the external model in a day")
	f.Int64Var(&c.Tokens, "model-tokens", heuristics.DefaultModelTokens, "how many tokens a project may spend on the external model in a day")
}

func (c *modelConfig) check() error {
	switch {
	case c.URL == "" && (c.Model != "" || c.KeyFile != ""):
		return usageError("--model-name and --model-key-file are for --model-url: give it")
	case c.URL == "" && (c.Calls != heuristics.DefaultModelCalls || c.Tokens != heuristics.DefaultModelTokens):
		return usageError("--model-calls and --model-tokens are for --model-url: give it")
	case c.URL != "" && c.Model == "":
		return usageError("which external model? give --model-name")
	case c.URL != "" && (c.Calls < 1 || c.Tokens < 1):
		return usageError("--model-calls and --model-tokens count from 1; without --model-url there is no external model")
	}
	return nil
}

// open is the zero value where there is none.
func (c *modelConfig) open() (use functions.ModelUse, err error) {
	if c.URL == "" {
		return use, nil
	}
	client, err := model.New(c.Options)
	if errors.Is(err, fs.ErrNotExist) {
		return use, usageError("--model-key-file: %w", err)
	}
	return functions.ModelUse{Client: client, Calls: c.Calls, Tokens: c.Tokens}, err
}
