package python

import _ "embed"

//go:embed manifests/linux-amd64.txt
var manifestText string
