package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	// Ctrl-C in the terminal also reaches the programs that the demo runs. They end by themselves, and then the demo
	// ends.
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, os.Interrupt)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if err := run(ctx, interrupted); err != nil {
		fmt.Fprintln(os.Stderr, "\ndemo: "+err.Error())
		os.Exit(1)
	}
}

func run(ctx context.Context, interrupted <-chan os.Signal) error {
	s := look(ctx)
	if len(interrupted) > 0 { // which also ended the programs that look asked
		return errors.New("interrupted")
	}
	place, why, err := s.choose()
	if err != nil {
		return err
	}
	d := &demo{place: place, image: s.image, start: time.Now()}
	fmt.Fprintln(os.Stderr, d.outlook())
	for _, step := range d.steps(why) {
		d.say("%s", step.name)
		if err := step.do(ctx); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
	}
	d.printNextSteps(os.Stdout)
	return nil
}
