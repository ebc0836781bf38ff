package benchmark

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// maxConditionMessage is a quarter of the API's limit, for readability.
const maxConditionMessage = 8 << 10

// SetCondition sets a condition of an object of this generation. Times have whole seconds, as in the API.
func SetCondition(conditions *[]metav1.Condition, c metav1.Condition, generation int64, now time.Time) {
	c.Message = text.Shorten(c.Message, maxConditionMessage)
	c.ObservedGeneration, c.LastTransitionTime = generation, metav1.NewTime(now.Truncate(time.Second))
	meta.SetStatusCondition(conditions, c)
}
