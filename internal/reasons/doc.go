// Package reasons says what each reason in a result means, and what to do about it. The command explain prints these
// texts, and tables in the documentation are made of them.
//
// It imports the API and the standard library. It is pure.
package reasons
