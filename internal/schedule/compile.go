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

package schedule

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/5spot/cluster-api-addon-provider-5spot/api/v1alpha1"
)

// Validate checks every field of a schedule, enabled or not. path is the field that
// holds it, such as spec.schedule; each error names its field and says what to write
// instead. Only an enabled schedule has to say when it is active.
//
// Admission checks what CEL can of this; the rest, such as the name of the zone, is
// found here only.
func Validate(spec v1alpha1.Schedule, path *field.Path) field.ErrorList {
	_, errs := compile(spec, path)
	return errs
}

// Compile makes a schedule that can be asked. With errors, which are those of
// [Validate], there is no schedule. One that is not enabled is never active and has
// no errors, whatever else is wrong with it.
func Compile(spec v1alpha1.Schedule, path *field.Path) (*Schedule, field.ErrorList) {
	if !enabled(spec) {
		return &Schedule{disabled: true}, nil
	}
	return compile(spec, path)
}

// enabled applies the default of the field, true.
func enabled(spec v1alpha1.Schedule) bool {
	return spec.Enabled == nil || *spec.Enabled
}

func compile(spec v1alpha1.Schedule, path *field.Path) (*Schedule, field.ErrorList) {
	errs := validateShape(spec, path)
	zone, err := loadZone(spec.Timezone)
	if err != nil {
		errs = append(errs, invalid(path.Child("timezone"), spec.Timezone, err))
	}

	days, dayErrs := compileDays(spec.DaysOfWeek, path.Child("daysOfWeek"))
	hours, hourErrs := compileHours(spec.HoursOfDay, path.Child("hoursOfDay"))
	windows, windowErrs := compileWindows(spec.Windows, path.Child("windows"))
	exceptions, exceptionErrs := compileExceptions(spec.Exceptions, path.Child("exceptions"))
	errs = append(errs, dayErrs...)
	errs = append(errs, hourErrs...)
	errs = append(errs, windowErrs...)
	errs = append(errs, exceptionErrs...)

	if len(errs) > 0 {
		return nil, errs
	}

	s := &Schedule{
		zone:  zone,
		rules: rules{days: days, hours: hours, windows: windows, exceptions: exceptions},
	}
	s.line = s.rules.line()
	return s, nil
}

// validateShape checks which fields are given together.
func validateShape(spec v1alpha1.Schedule, path *field.Path) field.ErrorList {
	days, hours := len(spec.DaysOfWeek) > 0, len(spec.HoursOfDay) > 0
	windows, exceptions := len(spec.Windows) > 0, len(spec.Exceptions) > 0
	switch {
	case windows && (days || hours):
		return field.ErrorList{field.Forbidden(path.Child("windows"),
			"windows exclude daysOfWeek and hoursOfDay: keep either the windows or the other two")}
	case days && !hours:
		return field.ErrorList{field.Required(path.Child("hoursOfDay"),
			"daysOfWeek and hoursOfDay go together: write the hours, such as 9-17, or 0-23 for the whole day")}
	case hours && !days:
		return field.ErrorList{field.Required(path.Child("daysOfWeek"),
			"daysOfWeek and hoursOfDay go together: write the days, such as mon-fri, or mon-sun for the whole week")}
	case !days && !windows && !exceptions && enabled(spec):
		return field.ErrorList{field.Required(path,
			"nothing says when the schedule is active: write daysOfWeek and hoursOfDay, or windows, or exceptions, or set enabled to false")}
	}
	return nil
}

func compileDays(lists []string, path *field.Path) (daySet, field.ErrorList) {
	var set daySet
	var errs field.ErrorList
	for i, list := range lists {
		if err := parseDays(list, &set); err != nil {
			errs = append(errs, invalid(path.Index(i), list, err))
		}
	}
	return set, errs
}

func compileHours(lists []string, path *field.Path) (hourSet, field.ErrorList) {
	var set hourSet
	var errs field.ErrorList
	for i, list := range lists {
		if err := parseHours(list, &set); err != nil {
			errs = append(errs, invalid(path.Index(i), list, err))
		}
	}
	return set, errs
}

func compileWindows(specs []v1alpha1.Window, path *field.Path) ([]window, field.ErrorList) {
	var windows []window
	var errs field.ErrorList
	for i, spec := range specs {
		at := path.Index(i)
		if len(spec.Days) == 0 {
			errs = append(errs, field.Required(at.Child("days"),
				"a window starts on given days: write them, such as mon-fri, or mon-sun for every day"))
		}
		days, dayErrs := compileDays(spec.Days, at.Child("days"))
		errs = append(errs, dayErrs...)
		start, err := parseTimeOfDay(spec.Start)
		if err != nil {
			errs = append(errs, invalid(at.Child("start"), spec.Start, err))
		}
		end, err := parseTimeOfDay(spec.End)
		if err != nil {
			errs = append(errs, invalid(at.Child("end"), spec.End, err))
		}
		windows = append(windows, window{days: days, start: start, end: end})
	}
	return windows, errs
}

func compileExceptions(specs []v1alpha1.Exception, path *field.Path) ([]forced, field.ErrorList) {
	var exceptions []forced
	var errs field.ErrorList
	for i, spec := range specs {
		at := path.Index(i)
		from, fromErr := parseDate(spec.From)
		if fromErr != nil {
			errs = append(errs, invalid(at.Child("from"), spec.From, fromErr))
		}
		to, toErr := parseDate(spec.To)
		if toErr != nil {
			errs = append(errs, invalid(at.Child("to"), spec.To, toErr))
		}
		if fromErr == nil && toErr == nil && to < from {
			errs = append(errs, field.Invalid(at.Child("to"), spec.To,
				fmt.Sprintf("the last day is before the first: write %s or later, or exchange from and to", spec.From)))
		}
		if spec.Active == nil {
			errs = append(errs, field.Required(at.Child("active"),
				"write true to force the days on, false to force them off"))
			continue
		}
		exceptions = append(exceptions, forced{from: from, to: to + secondsInDay, active: *spec.Active, index: i})
	}
	return exceptions, errs
}

// maxShown bounds what of a value an error repeats, in bytes.
const maxShown = 64

func invalid(path *field.Path, value string, err error) *field.Error {
	if len(value) > maxShown {
		value = value[:maxShown] + "..."
	}
	return field.Invalid(path, value, err.Error())
}
