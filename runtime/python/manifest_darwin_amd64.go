package python

import _ "embed"

//go:embed manifests/darwin-amd64.txt
var manifestText string
