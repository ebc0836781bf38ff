// Package reasons says what each reason in a result means, and what to do about it. The command explain prints these
// texts, and tables in the documentation are made of them.
//
// The texts are in reasons.yaml, which is read at the first use.
package reasons
