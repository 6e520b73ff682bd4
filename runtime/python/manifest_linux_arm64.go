package python

import _ "embed"

//go:embed manifests/linux-arm64.txt
var manifestText string
