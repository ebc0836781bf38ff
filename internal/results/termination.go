package results

import "errors"

// MaxTerminationBytes bounds a termination message.
const MaxTerminationBytes = 3000

// TerminationMessage returns the snapshot in at most MaxTerminationBytes of
// text. What did not fit is named in Snapshot.Omitted of the decoded snapshot.
func (s *Snapshot) TerminationMessage() []byte { return nil }

// DecodeTerminationMessage is the inverse of Snapshot.TerminationMessage.
func DecodeTerminationMessage(message []byte) (*Snapshot, error) {
	return nil, errors.New("not implemented")
}
