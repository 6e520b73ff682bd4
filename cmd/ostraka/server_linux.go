package main

import "github.com/ostraka/ostraka/api"

// apiVersion is the version of the API's specification.
const apiVersion = api.SpecVersion
