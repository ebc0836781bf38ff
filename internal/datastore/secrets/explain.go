package secrets

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// A server and its client disagree about TLS.
var (
	ErrServesTLS   = errors.New("found TLS, wanted plain text")
	ErrServesPlain = errors.New("found plain text, wanted TLS")
)

// Explain explains the errors of TLS, as remote.Explanation.
func Explain(err error) (results.FailureReason, string) {
	const reason = results.FailureTLSFailed
	if what := explainMember(err); what != "" {
		return reason, what
	}
	if refused, ok := errors.AsType[refusedClient](err); ok {
		return reason, "refuses the client certificate: " + refused.why + "; give one that the target accepts"
	}
	if errors.Is(err, ErrServesTLS) {
		return reason, "serves TLS; set spec.target.tls"
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok || errors.Is(err, ErrServesPlain) {
		return reason, "does not speak TLS; remove spec.target.tls, or use the port that serves TLS"
	}
	text := err.Error()
	switch {
	case isAboutClient(text):
		return reason, "refuses the client certificate, or requires one; give one with its key (tls.crt and tls.key of spec.target.tls) that the target's client CA signed"
	case strings.Contains(text, "tls: "):
		return reason, "failed the TLS handshake; check the certificates and the TLS versions of both sides"
	}
	return "", ""
}

// explainMember explains what is wrong with the certificate of a member.
func explainMember(err error) string {
	if e, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		signed := ""
		if e.Cert != nil {
			signed = fmt.Sprintf(" (%.100q did)", e.Cert.Issuer.String())
		}
		return "has a certificate that the given CA did not sign" + signed + "; use the CA that signed it (ca.crt of spec.target.tls)"
	}
	if e, ok := errors.AsType[x509.HostnameError](err); ok {
		return uncovered(e)
	}
	if e, ok := errors.AsType[x509.CertificateInvalidError](err); ok {
		return "has a certificate that is not valid: " + invalidity(e)
	}
	return ""
}

// uncovered explains a certificate that does not cover the name of the address. Go, and so etcd's own clients, do not
// look at the common name.
func uncovered(e x509.HostnameError) string {
	names := slices.Clone(e.Certificate.DNSNames)
	for _, ip := range e.Certificate.IPAddresses {
		names = append(names, ip.String())
	}
	if len(names) == 0 {
		return fmt.Sprintf("has a certificate without subject alternative names (its common name is %.100q, which "+
			"clients ignore), so no name can match it; issue the certificate again with the addresses of the "+
			"member as subject alternative names",
			e.Certificate.Subject.CommonName)
	}
	return fmt.Sprintf("has a certificate that does not cover %.100q but %.200s; use an address that it covers, or set spec.target.tls.serverName, with one of these names",
		e.Host, strings.Join(names, ", "))
}

// invalidity explains the reasons that a server's certificate can have.
func invalidity(e x509.CertificateInvalidError) string {
	switch e.Reason {
	case x509.Expired:
		if e.Cert != nil {
			if why := outOfDate(e.Cert, time.Now()); why != "" {
				return fmt.Sprintf("that of %.100q %s; renew it, or check the clock here", e.Cert.Subject.String(), why)
			}
		}
	case x509.IncompatibleUsage:
		return "its extended key usages do not include server authentication; issue it again with that usage"
	case x509.NotAuthorizedToSign:
		return "it was signed by a certificate that is no CA; issue it again with a CA"
	}
	return "check its dates and usages"
}

// refusedClient is a server's refusal of a client certificate whose fault is known.
type refusedClient struct {
	err error
	why string
}

// Error implements error.
func (r refusedClient) Error() string { return r.err.Error() }

// Unwrap returns the cause.
func (r refusedClient) Unwrap() error { return r.err }

// isAboutClient reports whether an alert of a server is about the client's certificate. An alert has no type.
func isAboutClient(text string) bool {
	return slices.ContainsFunc([]string{"certificate required", "bad certificate", "unknown certificate authority", "expired certificate", "unsupported certificate"},
		func(alert string) bool { return strings.Contains(text, "tls: "+alert) })
}

// Refusal adds to a server's refusal what is wrong with the client certificate, if that can be seen here.
func (c *TLS) Refusal(err error) error {
	if err == nil || c == nil || c.Client == nil || !isAboutClient(err.Error()) {
		return err
	}
	usages := c.Client.ExtKeyUsage
	switch why := outOfDate(c.Client.Certificate, time.Now()); {
	case why != "":
		return refusedClient{err, c.Client.Name + " " + why}
	case len(usages) > 0 && !slices.Contains(usages, x509.ExtKeyUsageClientAuth) && !slices.Contains(usages, x509.ExtKeyUsageAny):
		return refusedClient{err, c.Client.Name + " is not for client authentication, by its extended key usages"}
	case strings.Contains(err.Error(), "tls: unknown certificate authority"):
		return refusedClient{err, fmt.Sprintf("the target does not know the CA that signed %s, %.100q", c.Client.Name, c.Client.Issuer.String())}
	}
	return err
}
