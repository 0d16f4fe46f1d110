//go:build suite

// Package suite names the program that install.sh builds; `go install` cannot, since the module has no list of versions.
package suite

import _ "github.com/bufbuild/protovalidate/tools/protovalidate-conformance"
