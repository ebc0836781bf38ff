package main

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/go-logr/logr"
)

// The level selects lines by logr's verbosity, and the format is that of each line.
func TestLog(t *testing.T) {
	tests := map[string]struct{ level, format, want string }{
		"debug": {"debug", "json", "failed started repeated"},
		"info":  {"info", "json", "failed started"},
		"error": {"error", "text", "failed"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var o logOptions
			if err := errors.Join(o.setLevel(tc.level), o.setFormat(tc.format)); err != nil {
				t.Fatal(err)
			}
			var out strings.Builder
			logger := logr.FromSlogHandler(o.handler(&out))
			logger.Error(errors.New("a failure"), "failed")
			logger.Info("started")
			logger.V(1).Info("repeated")
			var messages []string
			for line := range strings.Lines(out.String()) {
				messages = append(messages, messageOf(t, tc.format, line))
			}
			if got := strings.Join(messages, " "); got != tc.want {
				t.Errorf("wanted the messages %s, found:\n%s", tc.want, out.String())
			}
		})
	}
}

func messageOf(t *testing.T, format, line string) string {
	t.Helper()
	if format == "text" {
		_, message, _ := strings.Cut(line, "msg=")
		message, _, _ = strings.Cut(message, " ")
		return message
	}
	var entry struct{ Msg string }
	if err := json.Unmarshal([]byte(line), &entry); err != nil {
		t.Fatal(err)
	}
	return entry.Msg
}
