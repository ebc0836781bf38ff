package ephemeral

import (
	"encoding/json"
	"regexp"
	"strings"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// remark is a kind of lines in logs that can explain the course of a run.
type remark struct {
	kind spec.LogKind
	says *regexp.Regexp
}

// longestRemark bounds a line of a log.
const longestRemark = 200

// Remark returns the kind of a line of a member's log and what it says; an empty kind for other lines. Of entries in JSON
// it has the message and times: other fields can have keys.
func (s Store) Remark(line []byte) (kind spec.LogKind, says string) {
	for _, r := range s.remarks {
		if at := r.says.FindIndex(line); at != nil {
			return r.kind, words(line, at[0])
		}
	}
	return "", ""
}

// words returns what a line says from a place on, after time, level and program.
func words(line []byte, from int) string {
	var entry struct {
		Msg, Took string
		Expected  string `json:"expected-duration"`
	}
	says := string(line[from:])
	// What could not be read of an entry is left out.
	if _ = json.Unmarshal(line, &entry); entry.Msg != "" {
		says = entry.Msg
		if entry.Took != "" {
			says += ": " + entry.Took + " (expected " + entry.Expected + ")"
		}
	}
	says = strings.ToValidUTF8(says, "")
	if len(says) > longestRemark {
		says = strings.ToValidUTF8(says[:longestRemark], "") + " …"
	}
	return says
}
