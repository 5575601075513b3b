package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strings"

	"mrtq/cmd/mrtq/internal/advice"
	"mrtq/cmd/mrtq/internal/exit"
	"mrtq/cmd/mrtq/internal/screen"
)

// errDeclined says that a rollback or a completion was not confirmed.
var errDeclined = errors.New("nothing was removed")

// askToGoOn asks the operator at a terminal. Without one it refuses, and says that --yes is the
// answer. The error says that nothing was removed.
func (a *app) askToGoOn(question string) error {
	if _, ok := screen.Terminal(os.Stdin); !ok {
		return exit.Check(fmt.Errorf("%w: %s To go on, give --yes: %s", errDeclined, question, a.advice.Again(advice.Switch("yes"))))
	}
	a.Ask("%s Type yes to go on: ", question)
	answer, _ := bufio.NewReader(os.Stdin).ReadString('\n')
	if strings.TrimSpace(answer) != "yes" {
		return exit.Check(errDeclined)
	}
	return nil
}
