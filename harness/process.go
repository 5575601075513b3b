package harness

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"mrtq/harness/internal/node"
)

// stopTimeout is how long a server may take to shut down before it is killed.
const stopTimeout = 10 * time.Second

// A process is a child process, with the end of its output.
type process struct {
	cmd  *exec.Cmd
	log  *node.Tail
	end  context.CancelFunc // asks it to end, and kills it after stopTimeout
	done chan struct{}      // closed when the child has ended and been waited for
}

// startProcess starts argv in the given folder.
func startProcess(argv []string, dir string) (*process, error) {
	ctx, cancel := context.WithCancel(context.Background())
	p := &process{cmd: exec.CommandContext(ctx, argv[0], argv[1:]...), log: &node.Tail{}, end: cancel, done: make(chan struct{})}
	p.cmd.Cancel = func() error { return p.cmd.Process.Signal(syscall.SIGTERM) }
	p.cmd.WaitDelay = stopTimeout
	p.cmd.Dir = dir
	p.cmd.Stdout, p.cmd.Stderr = p.log, p.log
	p.cmd.SysProcAttr = childAttributes()
	started := make(chan error)
	go func() {
		// For Linux, the child's parent is the thread that forked, so that
		// thread must live as long as the child (golang/go#27505).
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.cmd.Start()
		started <- err
		if err == nil {
			_ = p.cmd.Wait() // its state says how it ended
			close(p.done)
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("harness: start %s: %w", argv[0], err)
	}
	return p, nil
}

func (p *process) running() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// stop asks the process to end. It kills the process if it does not end, or
// when ctx is done. It returns when the process has ended.
func (p *process) stop(ctx context.Context) error {
	p.end()
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
		return p.kill()
	}
}

// kill sends SIGKILL and returns when the process has ended.
func (p *process) kill() error {
	if err := p.cmd.Process.Kill(); err != nil && err != os.ErrProcessDone {
		return fmt.Errorf("harness: kill process %d: %w", p.cmd.Process.Pid, err)
	}
	<-p.done
	return nil
}
