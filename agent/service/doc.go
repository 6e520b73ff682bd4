// Package service makes the agent a service of systemd, and takes that back without a trace.
//
// # What an installation is made of
//
//	/usr/local/lib/ostraka-agent/ostraka         the program, which the service's user cannot change
//	/etc/ostraka-agent/agent.env                 the server and the enrolment token, for root alone
//	/etc/ostraka-agent/installed.json            the manifest: what was made, with digests
//	/etc/systemd/system/ostraka-agent.service    the unit
//	/var/lib/ostraka-agent                       the agent's data; systemd makes it
//	the user ostraka-agent                       unless another is named
//
// Whatever was there before is left alone, and whatever was changed since is not removed without being told to.
package service
