# make test      everything that a change must pass; needs only Go, and also uses a JVM
#                with ZooKeeper's jars and Docker if they are installed (.ci/install does it)
# make test-jvm  the tests that otherwise use the embedded ZooKeeper, on Apache's
# make demo      a legacy queue migrated, verified, released and rolled back, on a ZooKeeper
#                that is started for it and thrown away
# make torture   the random and exhaustive tests at a large size, with their counts
# make bench     the figures of docs/figures.md: mrtq's commands beside the bare server,
#                small: RECORDS=20000 ROUNDS=3 gives what can be quoted
# make build     bin/mrtq
# make image     a Docker image of mrtq alone: docker run mrtq version
# make release   dist: static, reproducible binaries for Linux and macOS, and their checksums; and
#                if Docker runs, the image mrtq:v0.1.0: VERSION=v0.1.0 make release

.PHONY: test skipped test-jvm torture torture-race torture-lives torture-explorer torture-predicted torture-everywhere torture-tampered torture-server torture-ensemble demo bench build image release lint fuzz

# The race detector needs a C compiler; go says 0 where there is none.
race := $(if $(filter 1,$(shell go env CGO_ENABLED)),-race)

# What make bench migrates, how often, and with how many records it measures the memory.
RECORDS ?= 200
ROUNDS ?= 1
RUNS ?= 1
MEMORY ?= 200000

# The packages whose goroutines share memory most, and the tests of migrate that read and
# compare in parallel. make torture runs all packages with the race detector.
concurrent := ./harness/accept/library ./harness/minizk ./internal/election ./internal/sides ./internal/zkconn ./internal/ztree ./newqueue/client
parallel := 'TestManyRecords|TestEveryRecordCountsOnce|TestCommandsAtOnce|TestRollback|TestInterrupted'

# go-zookeeper 1.0.4 has a race of its own when it connects again and has watches (its pull request 35). The explorer of
# newqueue/client breaks connections all the time, and TestNextWaits one while it watches, so they run without the detector.
unwatched := 'TestExplorer$$|TestNextWaits$$'

# The packages whose tests take longest come first, so that the last ones are short.
longest := ./cmd/mrtq ./harness/accept ./features ./harness/rehearse ./harness/life

# Many tests wait for servers and clocks more than they compute. So two commands run at once, and
# the second one tests four packages at once. make lint has just run all of go vet.
test: lint
	@others=$$(go list ./... | grep -vxF "$$(go list $(concurrent) $(longest) ./migrate)") || exit; \
	test="go test -vet=off -timeout 30m"; \
	echo "$$test $(race) # the packages that share memory, and beside it $$test # the other packages"; \
	{ $$test $(race) $(concurrent) -skip $(unwatched); code=$$?; \
	  $$test ./newqueue/client -run $(unwatched) || code=1; \
	  $$test $(race) ./migrate -run $(parallel) || code=1; \
	  $$test ./migrate -skip $(parallel) || code=1; \
	  exit $$code; } & racing=$$!; \
	$$test -p 4 $(longest) $$others; code=$$?; \
	wait $$racing || code=1; \
	$(MAKE) -s skipped; exit $$code

# What make test ends with: what is not here to test on, and why.
skipped: build
	@for on in jvm docker; do \
	  why=$$(bin/mrtq zk --backend $$on -- true 2>&1 >/dev/null) || not="$${not:+$$not; }the tests on $$on: $$why"; \
	done; \
	[ -n "$$MRTQ_MRT_ZK_DRIVER" ] || not="$${not:+$$not; }the scenarios on CDL's mrt-zk: its jar is not in Debian (harness/drivers/mrt-zk)"; \
	echo "make test skipped $${not:-nothing}"

# The packages whose tests ask for the backend to test on, besides cmd/mrtq and harness: on
# Apache's server. They wait for it more than they compute, so two commands run at once.
# TestBackendPackages checks the list.
on_backend := ./internal/election ./internal/restore ./internal/sides ./internal/zkconn ./newqueue/client

test-jvm:
	MRTQ_TEST_BACKEND=jvm go test ./cmd/mrtq -run 'TestServerScripts|TestAccept|TestRunbook$$' & scripts=$$!; \
	MRTQ_TEST_BACKEND=jvm go test $(on_backend); code=$$?; \
	MRTQ_TEST_BACKEND=jvm go test ./harness -run Address || code=1; \
	wait $$scripts || code=1; exit $$code

# Two at once, the longest first. The others go on if one fails.
torture:
	@$(MAKE) --no-print-directory -j2 -k -O $(addprefix torture-,race lives explorer predicted everywhere tampered server ensemble)

torture-race:
	go test $(race) -timeout 90m ./... -skip 'TestExplorer$$|TestNextWaits$$|TestFigures' # the last one measures the processor
	go test ./newqueue/client -run $(unwatched) -count 1

torture-lives:
	go test ./harness/life -run TestLives -rapid.checks 3000 -rapid.nofailfile -count 1 -v -timeout 90m

torture-explorer:
	go test ./harness/life -run 'TestExplorer|TestThreeServers' -torture -count 1 -v -timeout 120m

torture-predicted:
	go test ./harness/rehearse -run TestPlanPredictsEverything -torture -count 1 -v -timeout 60m

torture-everywhere:
	go test ./features ./harness/accept -everywhere -count 1 -timeout 60m

torture-tampered:
	go test ./migrate -run TestTamperMatrix -torture -count 1 -v -timeout 60m

torture-server:
	go test ./harness/minizk -torture -count 1 -timeout 60m
	go test ./internal/sides -run TestSameAsServer -rapid.checks 1000 -rapid.nofailfile -count 1 -timeout 60m

torture-ensemble:
	go test ./cmd/mrtq -run TestRunbookOnEnsemble -torture -count 1 -v -timeout 60m

demo: build
	@harness/demo

bench: build # for accept; harness/bench builds its own
	go test ./cmd/mrtq/internal/planpage -run TestFigures -count 1 -v
	@for on in embedded jvm; do for run in $(RUNS); do \
	  bash -c "TIMEFORMAT='mrtq accept, all of it, on $$on: %R s'; time bin/mrtq accept --backend $$on >/dev/null 2>&1" || exit; \
	done; done
	go test ./harness/bench -run TestMemory -memory-records $(MEMORY) -count 1 -v -timeout 30m
	go test ./harness/bench -run TestSpeed -backends embedded,jvm -records $(RECORDS) -rounds $(ROUNDS) -count 1 -v -timeout 60m
	go test ./harness/bench -run TestFollow -backends jvm -records $(RECORDS) -count 1 -v -timeout 60m

build:
	go build -o bin/mrtq ./cmd/mrtq

image:
	@mkdir -p bin/image
	CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags '-s -w' -o bin/image/mrtq ./cmd/mrtq
	docker build -q -t mrtq -f harness/image/mrtq.Dockerfile bin/image

# Nothing of the machine, the folder or the time is in the files: the same commit and
# the same Go version give the same bytes.
release:
	@test -n "$(VERSION)" || { echo 'which version? VERSION=v0.1.0 make release'; exit 2; }
	@rm -rf dist; mkdir dist
	@for on in linux/amd64 linux/arm64 darwin/amd64 darwin/arm64; do \
	  echo "$$on"; GOOS=$${on%/*} GOARCH=$${on#*/} CGO_ENABLED=0 go build -trimpath -buildvcs=false \
	    -ldflags '-s -w -buildid= -X main.release=$(VERSION)' -o "dist/mrtq_$${on%/*}_$${on#*/}" ./cmd/mrtq || exit; \
	done
	@cd dist && if command -v sha256sum >/dev/null; then sha256sum mrtq_*; else shasum -a 256 mrtq_*; fi >SHA256SUMS
	@"dist/mrtq_$$(go env GOOS)_$$(go env GOARCH)" version | grep -F '$(VERSION)'
	@mkdir -p bin/image; cp "dist/mrtq_linux_$$(go env GOARCH)" bin/image/mrtq
	@if docker info >/dev/null 2>&1; then \
	  docker build -q -t 'mrtq:$(VERSION)' -f harness/image/mrtq.Dockerfile bin/image; docker run --rm 'mrtq:$(VERSION)' version; \
	else echo 'Docker does not run: no image was built'; fi

lint:
	@out=$$(gofmt -l .) || exit 1; if [ -n "$$out" ]; then echo "gofmt would change: $$out"; exit 1; fi
	go vet ./...
	go tool staticcheck ./...

# A short look for inputs that no decoder, and no server, should survive badly.
fuzz:
	go test ./legacy -run '^$$' -fuzz FuzzDecode -fuzztime 30s
	go test ./internal/znode -run '^$$' -fuzz Fuzz -fuzztime 30s
	go test ./internal/layout/merritt -run '^$$' -fuzz FuzzTrees -fuzztime 30s
	go test ./harness/minizk -run '^$$' -fuzz FuzzServer -fuzztime 30s
	go test ./internal/jute -run '^$$' -fuzz FuzzDecode -fuzztime 30s
