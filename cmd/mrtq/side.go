package main

import (
	"context"

	"mrtq/internal/side"
)

// side is a SOURCE or TARGET to be read. Call done when it is no longer needed.
func (a *app) side(ctx context.Context, e endpoint) (s side.Side, done func(), err error) {
	tree, err := a.wholeTree(ctx, e)
	if err != nil {
		return nil, nil, err
	}
	return side.Tree(tree), func() {}, nil
}
