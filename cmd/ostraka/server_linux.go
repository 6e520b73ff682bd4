package main

import (
	"github.com/ostraka/ostraka/api/rest"
)

// apiVersion is the version of the API's specification.
const apiVersion = rest.SpecVersion
