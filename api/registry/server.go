// Package registry has the operations on what jobs are made of: functions and their signatures, modules and their runs, objects, files and uploads.
//
// A new subject is a file of its own: the interface that it asks of the domain, what requests and answers look like, the operations, and their
// handlers, which are short: they read the request, call the domain once and shape the answer. What several packages need is in package rest,
// what is decided is in the domain.
package registry

import (
	"golang.org/x/sync/semaphore"

	"github.com/ostraka/ostraka/api/rest"
)

// Service is what these operations ask of the domain.
type Service interface {
	Files
	Functions
	ModuleRuns
	Modules
	Objects
	Signing
	Uploads
}

type server struct {
	*rest.Server
	service Service
	repacks *semaphore.Weighted
}

// Register declares the operations. It needs no service to do so, which is how the specification is made.
func Register(to *rest.Server, service Service) {
	s := &server{Server: to, service: service, repacks: semaphore.NewWeighted(repacksAtOnce)}
	s.signingOperations()
	s.functionOperations()
	s.moduleOperations()
	s.moduleRunOperations()
	s.objectOperations()
	s.fileOperations()
	s.uploadOperations()
}
