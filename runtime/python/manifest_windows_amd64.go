package python

import _ "embed"

//go:embed manifests/windows-amd64.txt
var manifestText string
