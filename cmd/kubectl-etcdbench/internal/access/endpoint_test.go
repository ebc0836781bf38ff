package access

import (
	"regexp"
	"strings"
	"testing"
)

// TestWhatIsWrongWithAnAddress: the message has what to write instead, and that is an address without a problem.
func TestWhatIsWrongWithAnAddress(t *testing.T) {
	for endpoint, want := range map[string]string{
		"10.0.0.1:2379": "", "etcd.example:2379": "", "https://etcd:2379": "", "http://[::1]:2379/": "", "etcd_1:2379": "",
		"unixs:///var/run/kine.sock": "Unix sockets", "unix://localhost:2379": "Unix sockets", "unix:/run/etcd": "Unix sockets",
		"::1:2379":                  "[::1]:2379",
		"::1":                       "[::1]:2379",
		"[::1]":                     "[::1]:2379",
		"2001:db8::1":               "[2001:db8::1]:2379",
		"fe80::1:22379":             "[fe80::1]:22379",
		"host:2181/chroot":          "write host:2181.",
		"https://h:1/v3/kv?x=1":     "write https://h:1.",
		"h:1?x=1":                   "write h:1.",
		"h:1//":                     "write h:1.",
		"10.0.0.1":                  "10.0.0.1:2379",
		"https://etcd":              "etcd:2379",
		"etcd:":                     "etcd:2379",
		":2379":                     "127.0.0.1:2379",
		"etcd:client":               `found "client"`,
		"etcd:0":                    "1 to 65535",
		"etcd:65536":                "1 to 65535",
		"grpc://h:1":                `"grpc://"`,
		"dns:///etcd.example":       `"dns:`,
		"HTTPS://h:1":               "https://",
		"http://root:secret@h:2379": "write http://h:2379, and give the user separately",
		"root:secret@h:2379":        "write h:2379, and",
		"h:1 h:2":                   "commas",
		"h:1;h:2":                   "commas",
		"":                          "empty",
	} {
		got := Problem(endpoint)
		if (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: found %q, wanted %q in it", endpoint, got, want)
		}
		if strings.Contains(got, "secret") {
			t.Errorf("%s: %q repeats the password", endpoint, got)
		}
		for _, better := range regexp.MustCompile(`(?:write|for example|brackets[a-z, ]*:|or) ((?:https?://)?\S+:\d+)`).FindAllStringSubmatch(got, -1) {
			if again := Problem(better[1]); again != "" {
				t.Errorf("%s: the address that the message names has a problem, too: %s", endpoint, again)
			}
		}
	}
}
