module leat/conformance/protovalidate

go 1.25.8

require github.com/bufbuild/protovalidate/tools v1.2.2
