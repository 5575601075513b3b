# make test   everything that a change must pass; needs Go, and uses a JVM with
#             ZooKeeper's jars and Docker where they are (.ci/install gets them)
# make demo   a legacy queue migrated, verified and taken back, on a ZooKeeper
#             that is started for it and thrown away
# make build  bin/mrtq

.PHONY: test demo build lint fuzz

test: lint
	go test -race -timeout 30m ./...

demo: build
	@harness/demo

build:
	go build -o bin/mrtq ./cmd/mrtq

lint:
	@out=$$(gofmt -l .); if [ -n "$$out" ]; then echo "gofmt would change: $$out"; exit 1; fi
	go vet ./...
	go tool staticcheck ./...

# A short look for inputs that no decoder should survive badly.
fuzz:
	go test ./legacy -run '^$$' -fuzz FuzzDecode -fuzztime 30s
	go test ./legacy/javaobj -run '^$$' -fuzz FuzzJavaobj -fuzztime 30s
	go test ./internal/znode -run '^$$' -fuzz Fuzz -fuzztime 30s
