package library

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"mrtq/internal/text"
	"mrtq/newqueue"
)

// Protocol is the version of the protocol.
const Protocol = 1

const (
	// helloTime is how long a driver has for its first answer, and stopTime to end when its input has ended.
	helloTime, stopTime = 10 * time.Second, 5 * time.Second
	// mostDeaths is how often a driver may die in a run. After the last one the run ends.
	mostDeaths = 3
	// longestLine is the longest answer, in bytes.
	longestLine = 8 << 20
)

// DriverError says what is wrong with a driver.
type DriverError struct {
	Driver  string // its command
	Request string // that it had, as JSON; "" for none
	What    string
	// Ends says that the run can't go on. Otherwise the scenario fails, and the next one
	// has a new process.
	Ends bool
	Err  error // the cause; may be nil
}

// Error names the driver and the request.
func (e *DriverError) Error() string {
	text := fmt.Sprintf("the driver %q %s", e.Driver, e.What)
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	if e.Request != "" {
		text += "; it was asked " + e.Request
	}
	return text + "; docs/drivers.md says how a driver answers, and its log is on stderr"
}

// Unwrap returns the cause.
func (e *DriverError) Unwrap() error { return e.Err }

// Driver is a program that answers requests. It is a [Library].
type Driver struct {
	opt Options

	mu       sync.Mutex
	now      *process // the newest
	deaths   int
	sessions int // that were opened
}

// Options say how to start a driver.
type Options struct {
	Command string // for sh
	Servers string // of ZooKeeper: host:port, with commas
	// Auth are credentials, as scheme:user:password. The driver gets them in its first request.
	Auth []string
	Log  io.Writer // gets what the driver prints on stderr, made printable; nil drops it
	// AnswerTimeout is how long the driver has for an answer, but for the first one. 0 means 30 s.
	AnswerTimeout time.Duration
}

type message struct {
	N       int    `json:"n"`
	Session string `json:"session,omitempty"`
	*Request
	// Of hello and open.
	Protocol int              `json:"protocol,omitempty"`
	Servers  string           `json:"servers,omitempty"`
	Auth     []string         `json:"auth,omitempty"`
	Dialect  newqueue.Dialect `json:"dialect,omitempty"`
	Root     string           `json:"root,omitempty"`
}

type reply struct {
	N int `json:"n"`
	*Answer
	Refused *Refusal `json:"refused,omitempty"`
	// Of hello and open.
	Implementation string             `json:"implementation,omitempty"`
	Protocol       int                `json:"protocol,omitempty"`
	Dialects       []newqueue.Dialect `json:"dialects,omitempty"`
	Clock          bool               `json:"clock,omitempty"`
	Strict         bool               `json:"strict,omitempty"`
	Without        []string           `json:"without,omitempty"`
	ZKSession      string             `json:"zk_session,omitempty"` // hexadecimal, with 0x
}

// Start starts a driver, and says hello. The error is a *[DriverError]. Stop it.
func Start(ctx context.Context, opt Options) (*Driver, error) {
	opt.AnswerTimeout = cmp.Or(opt.AnswerTimeout, 30*time.Second)
	d := &Driver{opt: opt}
	p, err := d.start(ctx)
	if err != nil {
		return nil, err
	}
	d.now = p
	return d, nil
}

func (d *Driver) start(ctx context.Context) (*process, error) {
	p, err := d.newProcess()
	if err != nil {
		return nil, d.wrong("does not start", "", err)
	}
	r, err := p.ask(ctx, message{Request: &Request{Verb: "hello"}, Protocol: Protocol, Servers: d.opt.Servers, Auth: d.opt.Auth}, helloTime)
	var why *DriverError
	switch i := slices.IndexFunc(r.Without, unknownName); {
	case errors.As(err, &why):
		why.Request = "hello" // the line has the credentials
	case err != nil:
	case r.Refused != nil:
		err = d.wrong("refuses", "", r.Refused)
	case r.Protocol != Protocol:
		err = d.wrong(fmt.Sprintf("needs protocol %d, and this version of mrtq speaks %d", r.Protocol, Protocol), "", nil)
	case r.Implementation == "":
		err = d.wrong("does not name its implementation", "", nil)
	case i >= 0:
		err = d.wrong(fmt.Sprintf("is without %q, which is no verb", r.Without[i]), "", nil)
	}
	if err != nil {
		p.kill(err)
		return nil, err
	}
	p.able = Capabilities{Name: r.Implementation, Dialects: r.Dialects, Clock: r.Clock, Strict: r.Strict, Without: r.Without}
	return p, nil
}

func unknownName(name string) bool {
	verb, _, _ := strings.Cut(name, " ")
	return name != "reasons" && name != "warnings" && !slices.ContainsFunc(Verbs, func(v Verb) bool { return v.Name == verb })
}

func (d *Driver) wrong(what, request string, err error) *DriverError {
	return &DriverError{Driver: d.opt.Command, Request: request, What: what, Ends: true, Err: err}
}

// Capabilities returns what the driver has said of itself: its newest process.
func (d *Driver) Capabilities() Capabilities {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.now.able
}

// Stop ends the driver and what it has started.
func (d *Driver) Stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.now.stop()
}

// Open opens a session. If the driver has died, it is started again, as often as a run allows.
func (d *Driver) Open(ctx context.Context, root string, dialect newqueue.Dialect) (Session, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if why := d.now.why(); why != nil {
		if d.deaths++; d.deaths >= mostDeaths {
			return nil, d.wrong(fmt.Sprintf("has died %d times", d.deaths), "", why)
		}
		p, err := d.start(ctx)
		if err != nil {
			return nil, err
		}
		d.now = p
	}
	d.sessions++
	s := &driverSession{d: d, p: d.now, name: fmt.Sprintf("s%d", d.sessions)}
	r, err := s.p.ask(ctx, message{Session: s.name, Request: &Request{Verb: "open"}, Root: root, Dialect: dialect}, d.opt.AnswerTimeout)
	switch {
	case err != nil:
		return nil, err
	case r.Refused != nil:
		return nil, r.Refused
	}
	if s.id, err = strconv.ParseInt(r.ZKSession, 0, 64); err != nil {
		if id, unsigned := strconv.ParseUint(r.ZKSession, 0, 64); unsigned == nil {
			s.id, err = int64(id), nil
		}
	}
	if err != nil {
		return nil, d.wrong(fmt.Sprintf("has answered open with zk_session %q, and not with ZooKeeper's id of the session, such as 0x1a20c2d32c10001", r.ZKSession), "", nil)
	}
	return s, nil
}

type driverSession struct {
	d    *Driver
	p    *process
	name string
	id   int64
}

func (s *driverSession) ID() int64 { return s.id }

func (s *driverSession) Do(ctx context.Context, r Request) (Answer, error) {
	if able := s.p.able; able.lacks(r.Verb) || able.lacks(r.Verb+" "+r.What) {
		return Answer{}, &Refusal{Kind: Unsupported, Text: able.Name + " does not offer " + r.Verb}
	}
	if !s.p.able.Clock {
		r.Now = time.Time{}
	}
	got, err := s.p.ask(ctx, message{Session: s.name, Request: &r}, s.d.opt.AnswerTimeout)
	switch {
	case err != nil:
		return Answer{}, err
	case got.Refused != nil && !got.Refused.Kind.known():
		return Answer{}, s.d.wrong(fmt.Sprintf("has refused with the unknown kind %q", got.Refused.Kind), asJSON(r), nil)
	case got.Refused != nil:
		return Answer{}, got.Refused
	}
	return *got.Answer, nil
}

func (k RefusalKind) known() bool {
	for _, one := range RefusalKinds {
		if one.Kind == k {
			return true
		}
	}
	return false
}

func (s *driverSession) End() error {
	_, err := s.p.ask(context.Background(), message{Session: s.name, Request: &Request{Verb: "close"}}, s.d.opt.AnswerTimeout)
	return err
}

type process struct {
	d     *Driver
	able  Capabilities // what it has said of itself
	group int          // of the process, and of what it has started
	in    *os.File
	ended chan struct{} // closed when the process has ended
	dead  chan struct{} // closed when err is set, and nothing is left of the group
	end   sync.Once

	mu      sync.Mutex
	err     error
	n       int
	waiting map[int]chan reply
}

func (d *Driver) newProcess() (*process, error) {
	stdin, requests, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer stdin.Close()
	answers, stdout, err := os.Pipe()
	if err != nil {
		requests.Close()
		return nil, err
	}
	defer stdout.Close()
	cmd := exec.Command("sh", "-c", d.opt.Command)
	cmd.Stdin, cmd.Stdout, cmd.SysProcAttr = stdin, stdout, &syscall.SysProcAttr{Setpgid: true}
	if d.opt.Log != nil {
		cmd.Stderr = text.NewWriter(d.opt.Log)
	}
	cmd.WaitDelay = time.Second // what it has started may keep its stderr open
	if err := cmd.Start(); err != nil {
		requests.Close()
		answers.Close()
		return nil, err
	}
	p := &process{d: d, group: cmd.Process.Pid, in: requests, ended: make(chan struct{}), dead: make(chan struct{}), waiting: map[int]chan reply{}}
	go func() {
		_ = cmd.Wait() // how it ended does not matter
		syscall.Kill(-p.group, syscall.SIGKILL)
		close(p.ended)
	}()
	go p.read(answers)
	return p, nil
}

func (p *process) read(stdout io.ReadCloser) {
	defer stdout.Close()
	lines := bufio.NewScanner(stdout)
	lines.Buffer(nil, longestLine)
	for lines.Scan() {
		if err := p.take(lines.Bytes()); err != nil {
			p.kill(err)
			return
		}
	}
	p.kill(&DriverError{Driver: p.d.opt.Command, What: "has ended", Err: lines.Err()})
}

func (p *process) take(line []byte) error {
	r := reply{Answer: &Answer{}}
	if err := json.Unmarshal(line, &r); err != nil {
		return p.d.wrong(fmt.Sprintf("has printed %.80q, which is no answer", line), "", text.PlainJSON(err))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	waits := p.waiting[r.N]
	if waits == nil {
		return p.d.wrong(fmt.Sprintf("has answered number %d, which does not wait for an answer: %.80q", r.N, line), "", nil)
	}
	delete(p.waiting, r.N)
	waits <- r
	return nil
}

func (p *process) ask(ctx context.Context, m message, limit time.Duration) (reply, error) {
	p.mu.Lock()
	if p.err != nil {
		defer p.mu.Unlock()
		return reply{}, p.err
	}
	p.n++
	m.N = p.n
	answer := make(chan reply, 1)
	p.waiting[m.N] = answer
	p.in.SetWriteDeadline(time.Now().Add(limit))
	line := asJSON(m)
	_, _ = io.WriteString(p.in, line+"\n") // without it, no answer comes
	p.mu.Unlock()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case r := <-answer:
		return r, nil
	case <-p.dead:
	case <-ctx.Done():
		return reply{}, context.Cause(ctx)
	case <-timer.C:
		p.kill(&DriverError{Driver: p.d.opt.Command, What: fmt.Sprintf("has not answered within %v, and was killed", limit)})
	}
	select {
	case r := <-answer: // its last words
		return r, nil
	default:
	}
	err := p.why()
	var why *DriverError
	if errors.As(err, &why) && why.Request == "" {
		with := *why
		with.Request = line
		return reply{}, &with
	}
	return reply{}, err
}

func asJSON(v any) string {
	line, err := json.Marshal(v)
	if err != nil {
		panic(err) // texts, numbers, and objects of these can always be written
	}
	return string(line)
}

func (p *process) why() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// kill ends the process and its group. Only the first call counts.
func (p *process) kill(why error) {
	p.mu.Lock()
	if p.err == nil {
		p.err = why
	}
	p.mu.Unlock()
	p.end.Do(func() {
		syscall.Kill(-p.group, syscall.SIGKILL)
		p.in.Close()
		<-p.ended
		close(p.dead)
	})
	<-p.dead
}

func (p *process) stop() {
	p.in.Close()
	select {
	case <-p.dead:
	case <-time.After(stopTime):
	}
	p.kill(errors.New("it was stopped"))
}

func (a Capabilities) lacks(what string) bool { return slices.Contains(a.Without, what) }

// Reasons reports whether its refusals say why. Otherwise any refusal counts.
func (a Capabilities) Reasons() bool { return !a.lacks("reasons") }

// Warnings reports whether a deletion warns. Otherwise a warning is not offered.
func (a Capabilities) Warnings() bool { return !a.lacks("warnings") }

// Supports reports whether it can a dialect.
func (a Capabilities) Supports(d newqueue.Dialect) bool {
	return a.Dialects == nil || slices.Contains(a.Dialects, d)
}

// String returns the name, with what it lacks.
func (a Capabilities) String() string {
	if len(a.Without) == 0 {
		return a.Name
	}
	return a.Name + ", without " + strings.Join(a.Without, ", ")
}
