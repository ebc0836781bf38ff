package schedule

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	// The operator's image has no files besides its binaries. Without this import, only UTC could be loaded there.
	_ "time/tzdata"

	"github.com/robfig/cron/v3"
)

// Times are the starts of a schedule. Parse makes them; the zero value has no starts.
type Times struct {
	// spec matches clock times. Its location is UTC, so that it knows no daylight saving time.
	spec *cron.SpecSchedule
	zone *time.Location
	// fixedHours: each clock time starts once, also if it occurs twice or not at all.
	fixedHours bool
}

const (
	// maxLength is in bytes. An expression that lists every value of every field has about 400.
	maxLength = 512
	// maxShown is how many characters of an expression or of a reason an error shows.
	maxShown = 60
)

const fiveFields = "write five fields: minute, hour, day of month, month, day of week"

// Parse reads a cron expression and the IANA name of a time zone. An empty time zone is UTC.
func Parse(expression, timeZone string) (Times, error) {
	zone, err := parseZone(timeZone)
	if err != nil {
		return Times{}, err
	}
	if err := refuse(expression); err != nil {
		return Times{}, err
	}
	spec, err := parseSpec(expression)
	if err != nil {
		advice := fiveFields
		if len(strings.Fields(expression)) == len(cronFields) {
			advice = "write minutes from 0 to 59, hours from 0 to 23, days from 1 to 31, months from 1 to 12, days of the week from 0 (Sunday) to 6"
		}
		return Times{}, fmt.Errorf("schedule %s is not a cron expression: %w; %s", shown(expression), err, advice)
	}
	t := Times{spec: spec, zone: zone, fixedHours: hasFixedHours(expression)}
	if t.Next(time.Unix(0, 0)).IsZero() {
		return Times{}, fmt.Errorf("schedule %s never fires: none of its months has such a day; "+
			"change the day of month or the month", shown(expression))
	}
	return t, nil
}

func parseZone(name string) (*time.Location, error) {
	const want = `write an IANA name such as "Europe/Berlin", or leave it empty for UTC`
	if strings.EqualFold(name, "Local") {
		return nil, fmt.Errorf("timeZone %s depends on where the operator runs; %s", shown(name), want)
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("timeZone %s is not in the time zone database; %s", shown(name), want)
	}
	return zone, nil
}

// refuse returns an error for expressions that must not reach the parser. The parser accepts some of them and
// panics at others.
func refuse(expression string) error {
	switch {
	case len(expression) > maxLength:
		return fmt.Errorf("schedule %s has %d bytes, the limit is %d; use ranges (1-5) and steps (*/15)",
			shown(expression), len(expression), maxLength)
	case strings.TrimSpace(expression) == "":
		return fmt.Errorf("schedule %s is empty; %s", shown(expression), fiveFields)
	case strings.Contains(expression, "TZ="):
		return fmt.Errorf("schedule %s contains a time zone; remove it and set timeZone", shown(expression))
	case strings.HasPrefix(expression, "@every"):
		return fmt.Errorf("schedule %s has no fixed times: it depends on when the operator started; "+
			`write five fields, for example "0 * * * *" for every hour`, shown(expression))
	}
	return nil
}

// cronFields are the fields of an expression, in their order.
var cronFields = []struct {
	name   string
	option cron.ParseOption
}{
	{"minute", cron.Minute},
	{"hour", cron.Hour},
	{"day of month", cron.Dom},
	{"month", cron.Month},
	{"day of week", cron.Dow},
}

// parseSpec also turns a panic of the parser into an error: it panics at "TZ=", for example.
func parseSpec(expression string) (spec *cron.SpecSchedule, err error) {
	defer func() {
		if r := recover(); r != nil {
			spec, err = nil, errors.New("the parser failed: "+short(fmt.Sprint(r)))
		}
	}()
	if err := checkFields(strings.Fields(expression)); err != nil {
		return nil, err
	}
	parsed, err := cron.ParseStandard(expression)
	if err != nil {
		return nil, errors.New(short(err.Error()))
	}
	spec, ok := parsed.(*cron.SpecSchedule)
	if !ok {
		return nil, errors.New("it has no fixed times")
	}
	spec.Location = time.UTC
	return spec, nil
}

// checkFields parses the fields one by one, so that the error can name the field. It leaves a wrong number of fields to
// the parser.
func checkFields(fields []string) error {
	if len(fields) != len(cronFields) {
		return nil
	}
	for i, f := range cronFields {
		// The parser accepts a list without an item.
		if strings.Trim(fields[i], ",") == "" {
			return fmt.Errorf("the %s field %s is an empty list", f.name, shown(fields[i]))
		}
		if _, err := cron.NewParser(f.option).Parse(fields[i]); err != nil {
			// What follows is about the parser, not about the field.
			reason, _, _ := strings.Cut(err.Error(), ": strconv.")
			return fmt.Errorf("the %s field %s is invalid: %s", f.name, shown(fields[i]), short(reason))
		}
	}
	return nil
}

// hasFixedHours reads the text, because the parsed hours do not tell 0-23/2 from */2.
func hasFixedHours(expression string) bool {
	fields := strings.Fields(expression)
	if len(fields) == 1 {
		return fields[0] != "@hourly"
	}
	for item := range strings.SplitSeq(fields[1], ",") {
		if strings.HasPrefix(item, "*") || strings.HasPrefix(item, "?") {
			return false
		}
	}
	return true
}

// shown is a value as errors show it: quoted and short.
func shown(value string) string {
	return `"` + short(value) + `"`
}

// short keeps the beginning of a text. Characters that cannot be printed become U+FFFD: errors end up in conditions.
func short(text string) string {
	text, rest := cut(text)
	text = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return utf8.RuneError
		}
		return r
	}, text)
	if rest {
		text += "..."
	}
	return text
}

// cut returns at most maxShown characters, and whether there are more.
func cut(text string) (string, bool) {
	n := 0
	for i := range text {
		if n == maxShown {
			return text[:i], true
		}
		n++
	}
	return text, false
}
