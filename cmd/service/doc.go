// Package service makes an agent or a server a service of systemd, and takes that back without a trace.
//
// # What an installation is made of
//
//	/usr/local/lib/ostraka-agent/ostraka         the program, which the service's user cannot change
//	/etc/ostraka-agent/agent.env                 what is secret, for root alone
//	/etc/ostraka-agent/installed.json            the manifest: what was made, with digests
//	/etc/systemd/system/ostraka-agent.service    the unit
//	/var/lib/ostraka-agent                       the data; systemd makes it
//	the user ostraka-agent                       unless another is named
//
// That is an agent; a server's are named ostraka-server, but for its folder /etc/ostraka, in which its file of settings is as well. That file
// is its operator's: it is neither made nor removed. Whatever was there before is left alone, and whatever was changed since is not removed
// without being told to.
package service
