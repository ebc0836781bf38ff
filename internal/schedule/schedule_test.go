package schedule

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func parse(t *testing.T, expression, zone string) Times {
	t.Helper()
	times, err := Parse(expression, zone)
	if err != nil {
		t.Fatal(err)
	}
	return times
}

// instant reads RFC 3339.
func instant(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func TestParseRefuses(t *testing.T) {
	const valid = "0 0 * * *"
	for name, tc := range map[string]struct {
		expression, zone string
		want             []string
	}{
		"empty":                  {"", "", []string{`""`, "empty", "five fields"}},
		"only spaces":            {" \t ", "", []string{"empty", "five fields"}},
		"four fields":            {"* * * *", "", []string{`"* * * *"`, "found 4", "five fields"}},
		"six fields":             {"0 * * * * *", "", []string{`"0 * * * * *"`, "found 6", "five fields"}},
		"minute too high":        {"60 * * * *", "", []string{`"60 * * * *"`, `minute field "60"`, "above maximum (59)"}},
		"hour too high":          {"0 24 * * *", "", []string{`hour field "24"`}},
		"day zero":               {"0 0 0 * *", "", []string{`day of month field "0"`}},
		"month 13":               {"0 0 1 13 *", "", []string{`month field "13"`}},
		"Sunday as 7":            {"0 0 * * 7", "", []string{`day of week field "7"`}},
		"unknown name":           {"0 0 * * MOO", "", []string{`day of week field "MOO"`}},
		"range backwards":        {"0 5-1 * * *", "", []string{`hour field "5-1"`}},
		"step zero":              {"*/0 * * * *", "", []string{`minute field "*/0"`}},
		"negative":               {"-1 * * * *", "", []string{`minute field "-1"`}},
		"list without item":      {", * * * *", "", []string{`minute field ","`, "empty list"}},
		"last list without item": {"0 0 * * ,,", "", []string{`day of week field ",,"`, "empty list"}},
		"descriptor in a field":  {"0 @daily * * *", "", []string{`hour field "@daily"`}},
		"unknown descriptor":     {"@reboot", "", []string{`"@reboot"`, "unrecognized", "five fields"}},
		"every":                  {"@every 5s", "", []string{`"@every 5s"`, "no fixed times", "0 * * * *"}},
		"every without value":    {"@every", "", []string{`"@every"`, "no fixed times"}},
		"zone without fields":    {"TZ=", "", []string{`"TZ="`, "set timeZone"}},
		"zone in front":          {"TZ=UTC 0 0 * * *", "", []string{`"TZ=UTC 0 0 * * *"`, "set timeZone"}},
		"wrong zone in front":    {"CRON_TZ=Foo 1 1 1 1 1", "", []string{`"CRON_TZ=Foo 1 1 1 1 1"`, "set timeZone"}},
		"zone after a space":     {" TZ=UTC 0 0 * * *", "", []string{"set timeZone"}},
		"30 February":            {"0 0 30 2 *", "", []string{`"0 0 30 2 *"`, "never fires"}},
		"31 of short months":     {"0 0 31 4,6,9,11 *", "", []string{`"0 0 31 4,6,9,11 *"`, "never fires"}},
		"31 of June each hour":   {"* * 31 JUN *", "Europe/Berlin", []string{"never fires"}},
		"long":                   {strings.Repeat("0,", 100_000), "", []string{`"0,0,`, "...", "200000 bytes", "512"}},
		"long with a zone":       {"TZ=" + strings.Repeat("x", 1000), "", []string{`"TZ=xxx`, "1003 bytes"}},
		"long field":             {strings.Repeat("9", 400) + " * * * *", "", []string{`minute field "999`, "..."}},
		"many fields":            {strings.Repeat("* ", 200), "", []string{"found 200"}},
		"NUL characters":         {strings.Repeat("\x00", 20), "", []string{"found 1", "five fields"}},
		"NUL as field":           {"\x00 * * * *", "", []string{"minute field"}},
		"many NUL characters":    {strings.Repeat("\x00", 10_000), "", []string{"10000 bytes"}},
		"no UTF-8":               {"\xff\xfe * * * *", "", []string{"minute field"}},
		"wide characters":        {strings.Repeat("é", 200), "", []string{`"éé`, "..."}},
		"line break":             {"x\ny * * *", "", []string{"minute field"}},
		"huge step":              {"*/99999999999999999999 * * * *", "", []string{"minute field"}},

		"unknown time zone":     {valid, "Europe/Atlantis", []string{`timeZone "Europe/Atlantis"`, "Europe/Berlin"}},
		"local time zone":       {valid, "Local", []string{`timeZone "Local"`, "where the operator runs"}},
		"local in other case":   {valid, "LOCAL", []string{`timeZone "LOCAL"`, "where the operator runs"}},
		"folder as time zone":   {valid, "Europe", []string{`timeZone "Europe"`}},
		"path as time zone":     {valid, "../../etc/passwd", []string{`timeZone "../../etc/passwd"`}},
		"absolute path":         {valid, "/usr/share/zoneinfo/UTC", []string{`timeZone "/usr`}},
		"long time zone":        {valid, strings.Repeat("x", 10_000), []string{`timeZone "xxx`, "..."}},
		"NUL time zone":         {valid, "\x00", []string{"timeZone"}},
		"offset as a time zone": {valid, "+02:00", []string{`timeZone "+02:00"`}},
	} {
		t.Run(name, func(t *testing.T) {
			times, err := Parse(tc.expression, tc.zone)
			if err == nil {
				t.Fatalf("accepted: %+v", times)
			}
			got := err.Error()
			for _, want := range tc.want {
				if !strings.Contains(got, want) {
					t.Errorf("got %q, want it to contain %q", got, want)
				}
			}
			if strings.ContainsAny(got, "\x00\n") || !utf8.ValidString(got) {
				t.Errorf("got %q, want printable text", got)
			}
			if len(got) > 600 {
				t.Errorf("got %d bytes: %q", len(got), got)
			}
		})
	}
}

// robfig's parser panics at these.
func TestParserPanics(t *testing.T) {
	for _, expression := range []string{"TZ=", "CRON_TZ=", "TZ=UTC"} {
		if _, err := parseSpec(expression); err == nil || !strings.Contains(err.Error(), "parser failed") {
			t.Errorf("%q: got %v, want that the parser failed", expression, err)
		}
	}
}

func TestParseAccepts(t *testing.T) {
	for expression, fixed := range map[string]bool{
		"* * * * *":            false,
		"? ? ? ? ?":            false,
		"*/15 * * * *":         false,
		"0 */2 * * *":          false,
		"0 ?/2 * * *":          false,
		"0 3,*/6 * * *":        false,
		"@hourly":              false,
		"30 2 * * *":           true,
		"* 2 * * *":            true,
		"*/5 2-4 * * MON-FRI":  true,
		"0 0-23 * * *":         true,
		"0 0/2 * * *":          true,
		"0\t0  1 jan,JUL *":    true,
		"@yearly":              true,
		"@annually":            true,
		"@monthly":             true,
		"@weekly":              true,
		"@daily":               true,
		"@midnight":            true,
		"0 0 29 2 *":           true,
		"0 0 30 2 0":           true,
		"0 0 31 4,6,9,11,12 *": true,
	} {
		times, err := Parse(expression, "")
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		if times.fixedHours != fixed {
			t.Errorf("%q: got fixed hours %v, want %v", expression, times.fixedHours, fixed)
		}
		if times.zone != time.UTC {
			t.Errorf("%q: got zone %v, want UTC", expression, times.zone)
		}
	}
}

// A list of all values of all fields is not too long.
func TestLongestUsefulExpression(t *testing.T) {
	list := func(from, to int) string {
		var b strings.Builder
		for i := from; i <= to; i++ {
			if i > from {
				b.WriteByte(',')
			}
			if i >= 10 {
				b.WriteByte(byte('0' + i/10))
			}
			b.WriteByte(byte('0' + i%10))
		}
		return b.String()
	}
	parse(t, strings.Join([]string{list(0, 59), list(0, 23), list(1, 31),
		"JAN,FEB,MAR,APR,MAY,JUN,JUL,AUG,SEP,OCT,NOV,DEC", "SUN,MON,TUE,WED,THU,FRI,SAT"}, " "), "")
}
