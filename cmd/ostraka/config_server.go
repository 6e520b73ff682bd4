//go:build linux

package main

import (
	"github.com/spf13/pflag"

	"github.com/ostraka/ostraka/functions/tenant"
)

// configKinds are the programs that take a file of settings.
func configKinds() []configKind { return []configKind{serverConfigKind(), agentConfigKind()} }

func serverConfigKind() configKind {
	return configKind{name: "server", command: "ostraka server", keys: serverKeys(), open: func(t *terminal, flags *pflag.FlagSet) func() error {
		o := &serverOptions{terminal: t}
		o.register(flags)
		return o.check
	}}
}

// serverKeys are the settings of a server, in the order of the example. Each flag of `ostraka server` has one, but --config.
func serverKeys() []configKey {
	return []configKey{
		{name: "server.database_url", flag: "database-url", env: "OSTRAKA_DATABASE_URL", secret: true},
		{name: "server.listen", flag: "listen"},
		{name: "server.public_url", flag: "public-url"},
		{name: "server.agent_urls", flag: "agent-url"},
		{name: "server.metrics_listen", flag: "metrics-listen"},
		{name: "server.cache_dir", flag: "cache-dir"},
		{name: "server.queues", flag: "queues"},
		{name: "server.archive_jobs", flag: "archive-jobs"},
		{name: "server.pack_after", flag: "pack-after"},
		{name: "server.lease_ttl", flag: "lease-ttl"},
		{name: "server.tokens_only", flag: "tokens-only"},
		{name: "server.eula_file", flag: "eula"},

		{name: "objects.dir", flag: "blob-dir", instead: []string{"--s3-endpoint"}},
		{name: "objects.s3_endpoint", flag: "s3-endpoint", instead: []string{"--blob-dir"}},
		{name: "objects.s3_bucket", flag: "s3-bucket"},
		{name: "objects.s3_region", flag: "s3-region"},
		{name: "objects.s3_plaintext", flag: "s3-plaintext"},
		{name: "objects.s3_access_key", env: "OSTRAKA_S3_ACCESS_KEY", secret: true, about: "the name of the key of the S3 server (or OSTRAKA_S3_ACCESS_KEY)"},
		{name: "objects.s3_secret_key", env: "OSTRAKA_S3_SECRET_KEY", secret: true, about: "the secret of that key (or OSTRAKA_S3_SECRET_KEY)"},

		{name: "tls.cert", flag: "tls-cert", instead: []string{"--acme-host"}},
		{name: "tls.key", flag: "tls-key", instead: []string{"--acme-host"}},
		{name: "tls.acme_hosts", flag: "acme-host", instead: []string{"--tls-cert"}},
		{name: "tls.acme_dir", flag: "acme-dir", instead: []string{"--tls-cert"}},
		{name: "tls.acme_mail", flag: "acme-mail", instead: []string{"--tls-cert"}},

		{name: "proxy.in_front", flag: "behind-proxy"},
		{name: "proxy.trusted", flag: "trusted-proxy"},

		{name: "limits.connections", flag: "connections"},
		{name: "limits.connections_per_address", flag: "connections-per-address"},
		{name: "limits.requests_per_address", flag: "requests-per-address"},
		{name: "limits.requests_per_key", flag: "requests-per-key"},

		{name: "quotas", flag: "quota", members: quotaMembers(), about: "what a project may have where the operator sets nothing for it; 0: no limit (ostraka project quotas)"},

		{name: "recheck.sandbox", flag: "recheck-sandbox"},
		{name: "recheck.seconds", flag: "recheck-seconds"},
		{name: "recheck.concurrent", flag: "recheck-concurrent", usual: "1"},
		{name: "recheck.docker_host", flag: "docker-host", env: "DOCKER_HOST"},
		{name: "recheck.image", flag: "recheck-image"},
		{name: "recheck.warm", flag: "recheck-warm"},
		{name: "recheck.gvisor", flag: "recheck-gvisor"},
		{name: "recheck.volumes", flag: "recheck-volume"},
		{name: "recheck.python_dir", env: pythonDirVariable, about: "where the interpreter for rechecks is unpacked (or OSTRAKA_PYTHON_DIR); left out: in the user's cache"},

		{name: "model.url", flag: "model-url"},
		{name: "model.name", flag: "model-name"},
		{name: "model.key_file", flag: "model-key-file"},
		{name: "model.calls", flag: "model-calls"},
		{name: "model.tokens", flag: "model-tokens"},

		{name: "webhooks.allow", flag: "webhook-allow"},

		{name: "oidc.issuer", flag: "oidc-issuer"},
		{name: "oidc.client_id", flag: "oidc-client-id"},
		{name: "oidc.client_secret", env: oidcClientVariable, instead: []string{"--oidc-client-secret-file"}, secret: true, about: "the client's secret (or OSTRAKA_OIDC_CLIENT_SECRET)"},
		{name: "oidc.client_secret_file", flag: "oidc-client-secret-file", instead: []string{oidcClientVariable}},
		{name: "oidc.groups_claim", flag: "oidc-groups-claim"},
		{name: "oidc.grants", flag: "oidc-grant"},

		{name: "audit.log_key_file", flag: "log-key-file"},
		{name: "audit.retention", flag: "audit-retention"},

		{name: "log.level", flag: "log-level"},
		{name: "log.format", flag: "log-format"},
	}
}

func quotaMembers() []configMember {
	var members []configMember
	for _, name := range tenant.QuotaNames() {
		usual, about := tenant.QuotaOf(name).Usual()
		members = append(members, configMember{name: string(name), usual: usual, about: about})
	}
	return members
}
