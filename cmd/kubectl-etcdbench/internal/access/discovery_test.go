package access

import (
	"context"
	"net"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
	"golang.org/x/net/dns/dnsmessage"
)

// records are SRV records, by the name of the service: host names with a port.
type records map[string][]struct {
	host string
	port uint16
}

// serveDNS answers questions about SRV records, and makes the process ask there.
func serveDNS(t *testing.T, known records) {
	t.Helper()
	c, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		buffer := make([]byte, 1<<12)
		for {
			n, from, err := c.ReadFrom(buffer)
			if err != nil {
				return
			}
			if answer := known.answer(buffer[:n]); answer != nil {
				_, _ = c.WriteTo(answer, from)
			}
		}
	}()
	usual := net.DefaultResolver
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", c.LocalAddr().String())
	}}
	t.Cleanup(func() {
		net.DefaultResolver = usual
		_ = c.Close()
	})
}

func (r records) answer(question []byte) []byte {
	var m dnsmessage.Message
	if m.Unpack(question) != nil || len(m.Questions) != 1 {
		return nil
	}
	q := m.Questions[0]
	m.Response, m.Additionals = true, nil
	found, known := r[strings.TrimSuffix(q.Name.String(), ".")]
	if !known {
		m.RCode = dnsmessage.RCodeNameError
	}
	for _, f := range found {
		m.Answers = append(m.Answers, dnsmessage.Resource{
			Header: dnsmessage.ResourceHeader{Name: q.Name, Type: dnsmessage.TypeSRV, Class: dnsmessage.ClassINET},
			Body:   &dnsmessage.SRVResource{Target: dnsmessage.MustNewName(f.host + "."), Port: f.port, Priority: f.port},
		})
	}
	out, _ := m.Pack()
	return out
}

// flagsOf are parsed flags, as check has them.
func flagsOf(t *testing.T, args ...string) *Flags {
	t.Helper()
	f, set := &Flags{}, pflag.NewFlagSet("", pflag.ContinueOnError)
	set.StringSliceVar(&f.Endpoints, endpoints, nil, "")
	set.StringVar(&f.TLSDir, tlsDir, "", "")
	set.StringVar(&f.AuthDir, authDir, "", "")
	f.Define(set, "")
	f.DefineToken(set, "")
	if err := set.Parse(args); err != nil {
		t.Fatal(err)
	}
	return f
}

// The addresses are those that etcdctl finds, with the flags and variables of etcdctl.
func TestAddressesFromDNS(t *testing.T) {
	serveDNS(t, records{
		"_etcd-client._tcp.example.org":          {{"a.example.org", 2379}, {"b.example.org", 2380}},
		"_etcd-client-ssl._tcp.example.org":      {{"a.example.org", 12379}},
		"_etcd-client-test._tcp.example.org":     {{"c.example.org", 2379}},
		"_etcd-client-ssl._tcp.secure.example":   {{"s.secure.example", 2379}},
		"_etcd-client._tcp.plain.example":        {{"p.plain.example", 2379}},
		"_etcd-client-ssl-x._tcp.secure.example": {{"x.secure.example", 2379}},
	})
	for name, tc := range map[string]struct {
		args        []string
		variables   map[string]string
		want        []string
		serverName  string
		by, refused string
		notices     int
	}{
		"both kinds": {args: []string{"--discovery-srv", "example.org"}, by: "--discovery-srv example.org",
			want: []string{"https://a.example.org:12379", "http://a.example.org:2379", "http://b.example.org:2380"}},
		"the short flag":    {args: []string{"-d", "plain.example"}, want: []string{"http://p.plain.example:2379"}},
		"another service":   {args: []string{"-d", "example.org", "--discovery-srv-name", "test"}, want: []string{"http://c.example.org:2379"}},
		"only with TLS":     {args: []string{"-d", "example.org", "--insecure-discovery=false"}, want: []string{"https://a.example.org:12379"}, serverName: "example.org", notices: 2},
		"the user's name":   {args: []string{"-d", "secure.example", "--insecure-discovery=false", "--tls-server-name", "mine"}, want: []string{"https://s.secure.example:2379"}, serverName: "mine"},
		"none with TLS":     {args: []string{"-d", "plain.example", "--insecure-discovery=false"}, refused: "found no address with TLS", notices: 1},
		"no records":        {args: []string{"-d", "none.example"}, refused: "--discovery-srv none.example: found no SRV records of _etcd-client-ssl._tcp.none.example and _etcd-client._tcp.none.example"},
		"by variables":      {variables: map[string]string{"ETCDCTL_DISCOVERY_SRV": "secure.example", "ETCDCTL_DISCOVERY_SRV_NAME": "x", "ETCDCTL_INSECURE_DISCOVERY": "false"}, want: []string{"https://x.secure.example:2379"}, serverName: "secure.example", by: "ETCDCTL_DISCOVERY_SRV=secure.example"},
		"as etcdctl":        {variables: map[string]string{"ETCDCTL_DISCOVERY_SRV": "plain.example", "ETCDCTL_ENDPOINTS": "a:1"}, want: []string{"http://p.plain.example:2379"}},
		"flags outweigh":    {args: []string{"--endpoints", "a:1"}, variables: map[string]string{"ETCDCTL_DISCOVERY_SRV": "plain.example"}, want: []string{"a:1"}, by: "--endpoints"},
		"no truth":          {args: []string{"-d", "plain.example"}, variables: map[string]string{"ETCDCTL_INSECURE_DISCOVERY": "maybe"}, refused: `ETCDCTL_INSECURE_DISCOVERY: wanted true or false, found "maybe"`},
		"addresses":         {variables: map[string]string{"ETCDCTL_ENDPOINTS": "a:1, b:2"}, want: []string{"a:1", "b:2"}, by: "ETCDCTL_ENDPOINTS"},
		"a flag of the two": {args: []string{"-d", "plain.example"}, variables: map[string]string{"ETCDCTL_ENDPOINTS": "a:1"}, want: []string{"http://p.plain.example:2379"}},
	} {
		t.Run(name, func(t *testing.T) {
			for variable, value := range tc.variables {
				t.Setenv(variable, value)
			}
			f := flagsOf(t, tc.args...)
			notices, err := f.Locate(true)
			if tc.refused != "" {
				if err == nil || !strings.Contains(err.Error(), tc.refused) {
					t.Errorf("found the error %v, wanted %q in it", err, tc.refused)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, f.Endpoints); diff != "" {
				t.Errorf("addresses (-want +got):\n%s", diff)
			}
			if f.ServerName != tc.serverName || len(notices) != tc.notices || tc.by != "" && f.EndpointsBy() != tc.by {
				t.Errorf("found the name %q, from %q, %q", f.ServerName, f.EndpointsBy(), notices)
			}
		})
	}
}
