package v1alpha1

// What the schema of status admits at most, of lists and of the characters of texts.
const (
	MaxOperations    = 16
	MaxRequestCounts = 32
	MaxErrorCodes    = 32
	MaxWarnings      = 16

	MaxWarningLength = 512
	// MaxMessageLength is of the message of a member, an objective's, and a piece of
	// evidence.
	MaxMessageLength    = 512
	MaxGuardTextLength  = 256
	MaxMarkMemberLength = 64
	MaxPodMessageLength = 1024
)
