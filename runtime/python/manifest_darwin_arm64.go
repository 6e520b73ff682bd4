package python

import _ "embed"

//go:embed manifests/darwin-arm64.txt
var manifestText string
