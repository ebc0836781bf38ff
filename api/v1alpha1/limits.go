package v1alpha1

// Limits of the schema of status: items of a list, and characters of a text.
const (
	MaxOperations    = 16
	MaxRequestCounts = 32
	MaxErrorCodes    = 32
	MaxWarnings      = 16

	MaxWarningLength = 512
	// MaxMessageLength applies to the messages of a member and of an objective.
	MaxMessageLength = 512
	// MaxEvidenceLength applies to the message of a piece of evidence.
	MaxEvidenceLength   = 1024
	MaxGuardTextLength  = 256
	MaxMarkMemberLength = 64
	MaxPodMessageLength = 1024
)
