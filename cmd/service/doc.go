// Package service makes an agent or a server a service of systemd, and undoes that without a trace.
//
// # What an installation is made of
//
//	/usr/local/lib/ostraka-agent/ostraka         the program, which the service's user cannot change
//	/etc/ostraka-agent/agent.env                 the secrets, for root alone
//	/etc/ostraka-agent/installed.json            the manifest: what was made, with digests
//	/etc/systemd/system/ostraka-agent.service    the unit
//	/var/lib/ostraka-agent                       the data; systemd makes it
//	the user ostraka-agent                       unless another is named
//
// These are an agent's; a server's are named ostraka-server, except for its folder /etc/ostraka, which also holds its file of settings. That
// file is its operator's: it is neither made nor removed. Earlier files are left alone, and files that were changed since are not removed
// without being told to.
package service
