/*
Copyright 2026 The 5-Spot Authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

package gone

import (
	"errors"
	"fmt"
	"testing"

	. "github.com/onsi/gomega"
	pkgerrors "github.com/pkg/errors"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kerrors "k8s.io/apimachinery/pkg/util/errors"
)

func TestIgnore(t *testing.T) {
	notFound := apierrors.NewNotFound(schema.GroupResource{}, "a")
	conflict := apierrors.NewConflict(schema.GroupResource{}, "a", errors.New("b"))
	for _, row := range []struct {
		name    string
		err     error
		ignored bool
	}{
		{"nothing", nil, true},
		{"not found", notFound, true},
		{"wrapped", fmt.Errorf("patching: %w", notFound), true},
		{"all parts of a patch", pkgerrors.Wrap(kerrors.NewAggregate([]error{notFound, fmt.Errorf("status: %w", notFound)}), "patching"), true},
		{"one part of a patch", pkgerrors.Wrap(kerrors.NewAggregate([]error{notFound, conflict}), "patching"), false},
		{"another error", conflict, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			g := NewWithT(t)
			if row.ignored {
				g.Expect(Ignore(row.err)).To(Succeed())
			} else {
				g.Expect(Ignore(row.err)).To(MatchError(row.err))
			}
		})
	}
}
