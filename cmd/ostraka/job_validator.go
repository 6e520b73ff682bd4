package main

import (
	"encoding/json"
	"strings"

	"github.com/spf13/pflag"

	"github.com/ostraka/ostraka/client"
)

// validatorFlags name the module that compares a job's results.
type validatorFlags struct {
	module      string
	params      []string
	certificate bool
}

func (v *validatorFlags) register(f *pflag.FlagSet) {
	f.StringVar(&v.module, "validator", "", "what decides whether answers that differ are one answer: tolerant, none, or a module of yours; left out: what the function says")
	f.StringArrayVar(&v.params, "validator-param", nil, "a parameter of the validator, for example relative=1e-6; may be given several times")
	f.BoolVar(&v.certificate, "certificate", false, "have the validator judge each result alone: a result proves itself, or does not count")
}

// request is nil where no validator is named.
func (v *validatorFlags) request() (*client.ValidatorRequest, error) {
	if v.module == "" {
		if len(v.params) > 0 || v.certificate {
			return nil, usageError("--validator-param and --certificate are for the --validator: name it")
		}
		return nil, nil
	}
	r := &client.ValidatorRequest{Module: v.module, Certificate: v.certificate}
	if len(v.params) == 0 {
		return r, nil
	}
	params, err := keyValues("--validator-param", v.params)
	if err != nil {
		return nil, err
	}
	if r.Params, err = json.Marshal(params); err != nil {
		return nil, usageError("--validator-param: %v", err)
	}
	return r, nil
}

// keyValues reads parameters such as relative=1e-6. A value that is JSON is that value, anything else is a string.
func keyValues(flag string, pairs []string) (map[string]json.RawMessage, error) {
	values := map[string]json.RawMessage{}
	for _, pair := range pairs {
		key, value, found := strings.Cut(pair, "=")
		if !found || key == "" {
			return nil, usageError("%s %q: write KEY=VALUE, for example relative=1e-6", flag, pair)
		}
		if _, twice := values[key]; twice {
			return nil, usageError("%s: %s is given twice", flag, key)
		}
		text := json.RawMessage(value)
		if !json.Valid(text) {
			quoted, err := json.Marshal(value)
			if err != nil {
				return nil, usageError("%s %q: %v", flag, pair, err)
			}
			text = quoted
		}
		values[key] = text
	}
	return values, nil
}

// validatorText says in a line what compares a job's results.
func validatorText(v *client.ValidatorRef) string {
	switch {
	case v == nil:
		return ""
	case v.Certificate:
		return v.Module + ", which judges each result alone"
	default:
		return v.Module
	}
}
