package admission

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metavalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
)

// generatedSuffix is the number of random characters that complete a generateName.
const generatedSuffix = 5

// Create returns the object that an API server would create from u, or the error with which it would refuse u. It does
// not change u.
func (s *Schema[Object]) Create(u *unstructured.Unstructured, now time.Time) (*Object, error) {
	u = u.DeepCopy()
	if err := s.prune(u); err != nil {
		return nil, err
	}
	defaulting.Default(u.Object, s.structural)
	stamp(u, now)
	if errs := s.validate(u); len(errs) > 0 {
		return nil, apierrors.NewInvalid(u.GroupVersionKind().GroupKind(), u.GetName(), errs)
	}
	// Defaults are applied again, as on a read: stamp removed the status, and its default replaces it.
	defaulting.Default(u.Object, s.structural)
	out := new(Object)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, out); err != nil {
		return nil, fmt.Errorf("reading the admitted %s: %w", s.kind, err)
	}
	return out, nil
}

// prune refuses unknown fields with the words of strict field validation.
func (s *Schema[Object]) prune(u *unstructured.Unstructured) error {
	_, _, unknown, err := objectmeta.GetObjectMetaWithOptions(u.Object, objectmeta.ObjectMetaOptions{ReturnUnknownFieldPaths: true})
	if err != nil {
		return apierrors.NewBadRequest(fmt.Sprintf("metadata cannot be read: %v", err))
	}
	unknown = append(unknown, pruning.PruneWithOptions(u.Object, s.structural, true, schema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})...)
	defaulting.PruneNonNullableNullsWithoutDefaults(u.Object, s.structural)
	if len(unknown) == 0 {
		return nil
	}
	complaints := make([]string, len(unknown))
	for i, path := range unknown {
		complaints[i] = fmt.Sprintf("unknown field %q", path)
	}
	return apierrors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: strict decoding error: %s",
		u.GetKind(), u.GroupVersionKind().Version, u.GetKind(), strings.Join(complaints, ", ")))
}

// stamp sets the metadata that a server adds to a new object, and removes the status.
func stamp(u *unstructured.Unstructured, now time.Time) {
	delete(u.Object, "status")
	if u.GetName() == "" && u.GetGenerateName() != "" {
		u.SetName(u.GetGenerateName() + rand.String(generatedSuffix))
	}
	u.SetUID(types.UID(uuid.NewString()))
	u.SetCreationTimestamp(metav1.NewTime(now))
	u.SetGeneration(1)
}

// validate checks in the API server's order. It skips CEL rules if the object breaks the schema.
func (s *Schema[Object]) validate(u *unstructured.Unstructured) field.ErrorList {
	errs := metavalidation.ValidateObjectMetaAccessor(u, true, metavalidation.NameIsDNSSubdomain, field.NewPath("metadata"))
	errs = append(errs, validation.ValidateCustomResource(nil, u.Object, s.validator)...)
	errs = append(errs, objectmeta.Validate(context.Background(), nil, u.Object, s.structural, false)...)
	errs = append(errs, listtype.ValidateListSetsAndMaps(nil, s.structural, u.Object)...)
	if misshapen(errs) {
		return append(errs, field.Invalid(nil, nil, rulesNotChecked))
	}
	ruleErrs, _ := s.rules.of(u.Object).Validate(context.Background(), nil, s.structural, u.Object, nil, celconfig.RuntimeCELCostBudget)
	return append(errs, ruleErrs...)
}

// rulesNotChecked is the API server's message.
const rulesNotChecked = "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation"

func misshapen(errs field.ErrorList) bool {
	for _, err := range errs {
		switch err.Type {
		case field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany, field.ErrorTypeTypeInvalid:
			return true
		}
	}
	return false
}
