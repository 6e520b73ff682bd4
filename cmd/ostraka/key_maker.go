package main

import (
	"net/http"

	"github.com/spf13/pflag"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
)

// keyMaker is what the commands have in common that make an API key.
type keyMaker struct {
	outputFlag
	expiryFlag
	terminal *terminal
	server   *serverFlags
}

func (k *keyMaker) register(f *pflag.FlagSet) {
	k.outputFlag.register(f)
	k.expiryFlag.register(f, "until it is revoked")
}

// run has a key made that expires when it was said, and prints it, once. doing says what is being done.
func (k *keyMaker) run(doing string, request func(c *connection, seconds int64) (*http.Response, error)) error {
	if err := k.check(); err != nil {
		return err
	}
	seconds, err := k.seconds()
	if err != nil {
		return err
	}
	c, err := k.server.connectProject()
	if err != nil {
		return err
	}
	doc, err := answer.Read[client.CreatedKey](request(c, seconds))
	if err != nil {
		return explain(doing, err)
	}
	if k.json() {
		return writeJSON(k.terminal.out, doc.Raw)
	}
	return printSecret(k.terminal, &k.outputFlag, "key", doc.Value.Secret, nil)
}
