//go:build prometheus

package alerts

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"
)

var (
	// longerThan matches what was due, or has waited, for so many seconds.
	longerThan = regexp.MustCompile(`^time\(\) - .* > (\d+)$`)
	// noneIn matches that nothing happened for so long.
	noneIn = regexp.MustCompile(`(?s)unless .*rate\([^[]*\[(\w+)\]\)\) > 0`)
)

// The page says after what time an alert fires: the time of its expression and that of `for` together.
func TestThePageSaysWhenAlertsFire(t *testing.T) {
	path, _ := rulesFile(t, t.TempDir())
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	rules := struct {
		Groups []struct {
			Rules []struct{ Alert, Expr, For string }
		}
	}{}
	if err := yaml.Unmarshal(data, &rules); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(root + "/docs/alerts.md")
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, group := range rules.Groups {
		for _, rule := range group.Rules {
			after, certain := firesAfter(t, rule.Expr, rule.For)
			if !certain || after > time.Hour {
				continue
			}
			checked++
			_, section, _ := strings.Cut(string(page), "\n## "+rule.Alert+"\n")
			section, _, _ = strings.Cut(section, "\n## ")
			if want := fmt.Sprintf("%d minutes", int(after.Minutes())); !strings.Contains(section, want) {
				t.Errorf("%s fires after %s, and its section does not say so:%s", rule.Alert, want, section)
			}
		}
	}
	if checked != 3 { // ScheduleMissed, OperatorDown, OperatorStuck
		t.Errorf("checked %d alerts, wanted 3", checked)
	}
}

// firesAfter is not certain for an expression that depends on how much of something there was.
func firesAfter(t *testing.T, expr, wait string) (after time.Duration, certain bool) {
	t.Helper()
	if wait != "" {
		after = duration(t, wait)
	}
	if match := longerThan.FindStringSubmatch(strings.TrimSpace(expr)); match != nil {
		seconds, err := strconv.Atoi(match[1])
		if err != nil {
			t.Fatal(err)
		}
		return after + time.Duration(seconds)*time.Second, true
	}
	if match := noneIn.FindStringSubmatch(expr); match != nil {
		return after + duration(t, match[1]), true
	}
	return after, strings.HasPrefix(expr, "absent(")
}

func duration(t *testing.T, text string) time.Duration {
	t.Helper()
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
