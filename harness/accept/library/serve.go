package library

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
)

// Serve is a driver in Go: it reads requests from in, one a line, and writes the answers of a library to
// out, until in ends. open opens the library at the servers, with the credentials, that the first
// request names; Serve ends all sessions. The error comes from in or out, or from open.
func Serve(ctx context.Context, in io.Reader, out io.Writer, open func(ctx context.Context, servers string, auth []string) (Library, error)) error {
	s := server{ctx: ctx, out: out, open: open, sessions: map[string]*served{}}
	defer s.close()
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, longestLine)
	for lines.Scan() {
		m := message{Request: &Request{}}
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			return fmt.Errorf("%.80q is no request: %w", lines.Bytes(), err)
		}
		if err := s.take(m); err != nil {
			return err
		}
	}
	return lines.Err()
}

type server struct {
	ctx     context.Context
	open    func(ctx context.Context, servers string, auth []string) (Library, error)
	library Library
	working sync.WaitGroup // the goroutine of each session that has a request

	mu       sync.Mutex
	sessions map[string]*served // those that are open or have a request

	writing sync.Mutex
	out     io.Writer
}

// served is a session with its requests, which are done one after the other.
type served struct {
	open  Session   // nil before open and after close; only the goroutine that does the requests uses it
	queue []message // guarded by server.mu; the first one is being done
}

func (s *server) take(m message) (err error) {
	switch {
	case s.library == nil && m.Verb != "hello":
		return errors.New("the first request must be hello")
	case s.library == nil:
		if s.library, err = s.open(s.ctx, m.Servers, m.Auth); err != nil {
			s.answer(reply{N: m.N, Refused: &Refusal{Kind: Other, Text: err.Error()}})
			return nil
		}
		able := s.library.Capabilities()
		s.answer(reply{N: m.N, Implementation: able.Name, Protocol: Protocol, Dialects: able.Dialects, Clock: able.Clock, Strict: able.Strict, Without: able.Without})
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.sessions[m.Session]
	if one == nil {
		one = &served{}
		s.sessions[m.Session] = one
	}
	if one.queue = append(one.queue, m); len(one.queue) == 1 {
		s.working.Go(func() { s.work(m.Session, one, m) })
	}
	return nil
}

func (s *server) work(name string, one *served, m message) {
	for more := true; more; m, more = s.next(name, one) {
		r := reply{N: m.N}
		if err := s.do(one, m, &r); err != nil {
			r.Refused = refusalOf(err)
		}
		s.answer(r)
	}
}

// next returns the request after the one that was done, if there is one. Otherwise it forgets the session, unless that is open.
func (s *server) next(name string, one *served) (m message, more bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if one.queue = one.queue[1:]; len(one.queue) > 0 {
		return one.queue[0], true
	}
	if one.open == nil {
		delete(s.sessions, name)
	}
	return message{}, false
}

func (s *server) do(one *served, m message, r *reply) (err error) {
	switch {
	case m.Verb == "open" && one.open != nil:
		return &Refusal{Kind: Other, Text: "the session is open already"}
	case m.Verb == "open":
		if one.open, err = s.library.Open(s.ctx, m.Root, m.Dialect); err != nil {
			one.open = nil
			return err
		}
		r.ZKSession = fmt.Sprintf("%#x", uint64(one.open.ID()))
		return nil
	case one.open == nil:
		return &Refusal{Kind: Other, Text: "the session is not open"}
	case m.Verb == "close":
		err = one.open.End()
		one.open = nil
		return err
	}
	answer, err := one.open.Do(s.ctx, *m.Request)
	r.Answer = &answer
	return err
}

func refusalOf(err error) *Refusal {
	var refusal *Refusal
	switch {
	case errors.As(err, &refusal):
		return refusal
	case errors.Is(err, ErrLost):
		return &Refusal{Kind: Lost, Text: err.Error()}
	}
	return &Refusal{Kind: Other, Text: strings.TrimSpace(err.Error())}
}

// answer writes an answer. If nobody reads it, the input ends, too.
func (s *server) answer(r reply) {
	s.writing.Lock()
	defer s.writing.Unlock()
	fmt.Fprintln(s.out, asJSON(r))
}

func (s *server) close() {
	s.working.Wait()
	for _, one := range s.sessions {
		if one.open != nil {
			_ = one.open.End() // nobody waits for it
		}
	}
}
