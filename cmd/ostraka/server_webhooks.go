package main

import (
	"net/netip"

	"github.com/spf13/pflag"

	"github.com/ostraka/ostraka/runtime/webhook"
)

// webhookConfig says which addresses projects' webhooks may be at, besides those of the public internet.
type webhookConfig struct {
	networks []string
	allow    []netip.Prefix
}

func (c *webhookConfig) register(f *pflag.FlagSet) {
	f.StringSliceVar(&c.networks, "webhook-allow", nil, "network of your own that projects' webhooks may call, also over plain http, for example 10.1.2.0/24 (may be repeated); left out: public addresses only")
}

func (c *webhookConfig) complete() error {
	c.allow = nil
	for _, text := range c.networks {
		network, err := parseNetwork(text)
		if err != nil {
			return usageError("--webhook-allow %q is no network: write for example 10.1.2.0/24 or 192.0.2.7", text)
		}
		c.allow = append(c.allow, network)
	}
	return nil
}

func (c *webhookConfig) client() *webhook.Client {
	return webhook.NewClient(webhook.Guard{Allow: c.allow}, version)
}
