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
	s := server{ctx: ctx, out: out, open: open, sessions: map[string]chan message{}}
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

// server has the sessions that a client has opened. The requests of each are done one after the other.
type server struct {
	ctx      context.Context
	open     func(ctx context.Context, servers string, auth []string) (Library, error)
	library  Library
	sessions map[string]chan message
	running  sync.WaitGroup

	mu  sync.Mutex
	out io.Writer
}

// take takes a request: hello, the first of a session, or another one of it.
func (s *server) take(m message) (err error) {
	switch {
	case m.Verb == "hello":
		if s.library, err = s.open(s.ctx, m.Servers, m.Auth); err != nil {
			s.answer(reply{N: m.N, Refused: &Refusal{Kind: Other, Text: err.Error()}})
			return nil
		}
		able := s.library.Capabilities()
		s.answer(reply{N: m.N, Implementation: able.Name, Protocol: Protocol, Dialects: able.Dialects, Clock: able.Clock, Strict: able.Strict, Without: able.Without})
		return nil
	case s.library == nil:
		return errors.New("the first request must be hello")
	}
	if s.sessions[m.Session] == nil {
		s.sessions[m.Session] = make(chan message, 100)
		s.running.Go(func() { s.session(s.sessions[m.Session]) })
	}
	s.sessions[m.Session] <- m
	return nil
}

// session does the requests of one session.
func (s *server) session(requests <-chan message) {
	var open Session
	defer func() {
		if open != nil {
			_ = open.End() // nobody waits for it
		}
	}()
	for m := range requests {
		r := reply{N: m.N}
		var err error
		switch {
		case m.Verb == "open":
			if open, err = s.library.Open(s.ctx, m.Root, m.Dialect); err == nil {
				r.ZKSession = fmt.Sprintf("%#x", uint64(open.ID()))
			}
		case open == nil:
			err = &Refusal{Kind: Other, Text: "the session is not open"}
		case m.Verb == "close":
			err = open.End()
			open = nil
		default:
			var answer Answer
			answer, err = open.Do(s.ctx, *m.Request)
			r.Answer = &answer
		}
		if err != nil {
			r.Refused = refusalOf(err)
		}
		s.answer(r)
	}
}

// refusalOf is an error as a refusal.
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
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintln(s.out, asJSON(r))
}

// close ends all sessions.
func (s *server) close() {
	for _, requests := range s.sessions {
		close(requests)
	}
	s.running.Wait()
}
