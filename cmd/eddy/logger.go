package main

import (
	"fmt"
	"os"
	"sync"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"eddy.example/cmd/eddy/config"
)

// logger is the log, whose level and file can change.
type logger struct {
	*zap.Logger
	level zap.AtomicLevel
	out   *logOutput
}

func newLogger(c *config.Config) (*logger, error) {
	l := &logger{level: zap.NewAtomicLevel(), out: &logOutput{path: c.LogFile, f: os.Stderr}}
	if err := l.reopen(); err != nil {
		return nil, err
	}
	l.setLevel(c.LogLevel)
	ec := zap.NewProductionEncoderConfig()
	ec.EncodeTime = zapcore.RFC3339TimeEncoder
	encoder := zapcore.NewConsoleEncoder(ec)
	if c.LogFormat == "json" {
		encoder = zapcore.NewJSONEncoder(ec)
	}
	l.Logger = zap.New(zapcore.NewCore(encoder, l.out, l.level))
	return l, nil
}

func (l *logger) setLevel(level string) { l.level.UnmarshalText([]byte(level)) }

// reopen begins a new file if the old one has been moved away.
func (l *logger) reopen() error { return l.out.reopen() }

func (l *logger) close() {
	if l != nil {
		l.out.replace(os.Stderr)
	}
}

// logOutput is a file that can be replaced while it is written to.
type logOutput struct {
	path string // "": standard error
	mu   sync.Mutex
	f    *os.File
}

func (o *logOutput) reopen() error {
	if o.path == "" {
		return nil
	}
	f, err := os.OpenFile(o.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o640)
	if err != nil {
		return fmt.Errorf("cannot write the log: %w: choose another file with --log-file", err)
	}
	o.replace(f)
	return nil
}

func (o *logOutput) replace(f *os.File) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.f != os.Stderr {
		o.f.Close()
	}
	o.f = f
}

func (o *logOutput) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.f.Write(p)
}

func (o *logOutput) Sync() error { return nil }
