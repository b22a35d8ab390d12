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

package admission

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/5spot/cluster-api-addon-provider-5spot/api/v1alpha1"
	"github.com/5spot/cluster-api-addon-provider-5spot/internal/schedule"
)

// What the API server takes the controller understands, and the other way round.
var _ = Describe("The API server and the schedule's own validation agree on", func() {
	for name, values := range map[string][]string{
		"{daysOfWeek: [%q], hoursOfDay: ['9']}": {
			"mon", "tue", "wed", "thu", "fri", "sat", "sun", "mon-fri", "fri-mon", "mon-mon", "mon-wed,fri-sun", "mon,mon", "sat,sun,mon-tue",
			"", " ", "monday", "Mon", "MON", "mon-tuesday", "mon-", "-mon", "mon,", ",mon", "mon,,tue", "mon, tue", " mon", "mon ", "mon-tue-wed", "mon fri", "mo", "1", "*", "mon\n",
		},
		"{daysOfWeek: [mon], hoursOfDay: [%q]}": {
			"0", "9", "23", "00", "09", "9-17", "09-17", "22-6", "5-5", "0-23", "0-9,18-23", "1,1", "1,2,3-4",
			"", " ", "24", "25", "99", "9-25", "25-9", "-1", "9-", "-9", "9:30", "9.5", "009", "100", "9-17-20", "9,", ",9", "9,,10", "9, 10", " 9", "9 ", "9h", "nine", "*", "９", "9\n",
		},
		"{windows: [{days: [%q], start: '09:00', end: '10:00'}]}": {"mon", "mon-wed,fri", "", "monday", "mon-"},
		"{windows: [{days: [mon], start: %q, end: '10:00'}]}": {
			"00:00", "09:00", "10:00", "19:59", "20:00", "23:59",
			"", "24:00", "24:01", "9:00", "09:0", "09:60", "09.00", "0900", "09:00:00", "-1:00", " 09:00", "09:00 ", "09:00\n", "9am", "noon",
		},
		"{windows: [{days: [mon], start: '10:00', end: %q}]}": {"00:00", "10:00", "23:59", "", "24:00", "7:00", "10:0"},
		"{exceptions: [{from: %q, to: '9999-12-31', active: true}]}": {
			"2026-01-01", "2026-12-31", "2026-02-28", "2028-02-29", "2000-02-29", "2400-02-29", "0001-01-01", "0000-02-29", "0004-02-29", "9999-12-31",
			"", "2026-02-29", "2026-02-30", "2100-02-29", "1900-02-29", "2026-04-31", "2026-06-31", "2026-09-31", "2026-11-31", "2026-01-32", "2026-00-10",
			"2026-13-01", "2026-01-00", "2026-1-1", "26-01-01", "02026-01-01", "2026/01/01", "20260101", "01.01.2026", "2026-01-01T00:00:00Z", " 2026-01-01", "2026-01-01\n", "-001-01-01",
		},
		"{exceptions: [{from: '2026-06-15', to: %q, active: false}]}": {
			"2026-06-15", "2026-06-16", "2027-01-01", "2028-02-29",
			"", "2026-06-14", "2025-12-31", "2027-02-29", "tomorrow",
		},
		"{daysOfWeek: [mon], hoursOfDay: ['9'], timezone: %q}": {
			"UTC", "GMT", "Europe/Berlin", "America/New_York", "America/Argentina/Buenos_Aires", "America/Port-au-Prince", "Etc/GMT+5", "Etc/GMT-14",
			"Asia/Kathmandu", "Australia/Lord_Howe", "Pacific/Apia", "EST5EDT", "Zulu",
			"Invalid/Timezone", "Europe/Atlantis", "europe/berlin", "Local", "localtime", "posixrules", "posix/UTC", "right/UTC", "+02:00", "02:00", "CEST+2", "Europe/", "/Europe/Berlin",
			"Europe//Berlin", "Europe/Berlin/", "../UTC", "Europe/../UTC", "Europe\\Berlin", "UTC ", " UTC", "UTC\n", "Zürich", "zone.tab", "tzdata.zi",
		},
		"%s": {
			"{daysOfWeek: [mon], hoursOfDay: ['9']}", "{windows: [{days: [mon], start: '09:00', end: '10:00'}]}",
			"{exceptions: [{from: '2026-06-15', to: '2026-06-15', active: true}]}", "{enabled: false}", "{daysOfWeek: [], hoursOfDay: [], enabled: false}",
			"{}", "{enabled: true}", "{daysOfWeek: [], hoursOfDay: []}", "{daysOfWeek: [mon]}", "{hoursOfDay: ['9']}", "{daysOfWeek: [mon], enabled: false}",
			"{hoursOfDay: ['9'], exceptions: [{from: '2026-06-15', to: '2026-06-15', active: true}]}",
			"{daysOfWeek: [mon], hoursOfDay: ['9'], windows: [{days: [mon], start: '09:00', end: '10:00'}]}",
			"{daysOfWeek: [mon], windows: [{days: [mon], start: '09:00', end: '10:00'}]}", "{windows: []}",
			"{daysOfWeek: [monday], hoursOfDay: ['9'], enabled: false}", "{windows: [{days: [], start: '09:00', end: '10:00'}]}",
		},
	} {
		It(name, func(ctx context.Context) {
			var accepted, refused int
			for _, value := range values {
				manifest := fmt.Sprintf(name, value)
				object := with("{schedule: null}")
				object.Object["spec"].(map[string]any)["schedule"] = parse(manifest).Object

				machine := &v1alpha1.ScheduledMachine{}
				Expect(runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, machine)).To(Succeed())
				verdict := schedule.Validate(machine.Spec.Schedule, field.NewPath("spec", "schedule")).ToAggregate()
				err := try(ctx, admin, object)
				if verdict == nil {
					accepted++
					Expect(err).NotTo(HaveOccurred(), "the API server refuses %s, which schedule.Validate accepts", manifest)
				} else {
					refused++
					Expect(err).To(HaveOccurred(), "the API server accepts %s, which schedule.Validate refuses: %v", manifest, verdict)
				}
			}
			// A table with one verdict alone shows nothing.
			Expect(accepted).To(BeNumerically(">", 0))
			Expect(refused).To(BeNumerically(">", 0))
		})
	}
})
