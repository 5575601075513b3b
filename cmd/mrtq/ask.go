package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"mrtq/cmd/mrtq/internal/advice"
	"mrtq/cmd/mrtq/internal/exit"
	"mrtq/cmd/mrtq/internal/screen"
)

var errDeclined = errors.New("nothing was removed")

// askToGoOn asks the operator at a terminal. Without one it refuses, and says that --yes is the
// answer. The error says that nothing was removed. Ctrl-C ends it at once.
func (a *app) askToGoOn(ctx context.Context, question string) error {
	if _, ok := screen.Terminal(os.Stdin); !ok {
		return exit.Check(&advised{fmt.Errorf("%w: %s", errDeclined, question), advice.Next{First: "decide whether you want that: --yes confirms it", Command: a.advice.Again(advice.Switch("yes"))}})
	}
	a.Say("%s.", screen.Sentence(question))
	a.Ask("Type yes to continue, or anything else to stop: ")
	answered := make(chan string, 1)
	go func() {
		answer, _ := bufio.NewReader(os.Stdin).ReadString('\n')
		answered <- answer
	}()
	select {
	case <-ctx.Done():
		a.Ask("\n") // the terminal has shown ^C after the question
		return &partlyDone{ctx.Err(), errDeclined.Error()}
	case answer := <-answered:
		if answer = strings.TrimSpace(answer); answer != "yes" {
			return exit.Check(fmt.Errorf("%w: the answer was %q, and only yes continues", errDeclined, answer))
		}
		return nil
	}
}
