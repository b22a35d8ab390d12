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
	"testing"
	"time"

	"github.com/5spot/cluster-api-addon-provider-5spot/api/v1alpha1"
)

func benchmarkSpecs() map[string]v1alpha1.Schedule {
	office := daysAndHours("mon-fri", "9-17")
	holidays := office
	day := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range 200 {
		holidays.Exceptions = append(holidays.Exceptions,
			exception(day.Format(time.DateOnly), day.Format(time.DateOnly), false))
		day = day.AddDate(0, 0, 1+i%2)
	}
	far := v1alpha1.Schedule{Timezone: "America/New_York", Exceptions: []v1alpha1.Exception{
		exception("0001-01-01", "0001-01-01", true), exception("9999-06-01", "9999-06-01", true)}}
	return map[string]v1alpha1.Schedule{
		"office":         office,
		"windows":        windowOn("mon-sun", "22:00", "06:30"),
		"200 exceptions": holidays,
		"far":            far,
		"always":         daysAndHours("mon-sun", "0-23"),
	}
}

func benchmark(b *testing.B, run func(*Schedule, time.Time)) {
	instant := time.Date(2026, 1, 5, 15, 0, 0, 0, time.UTC)
	for name, spec := range benchmarkSpecs() {
		b.Run(name, func(b *testing.B) {
			s := compiled(b, spec)
			b.ReportAllocs()
			for b.Loop() {
				run(s, instant)
			}
		})
	}
}

func BenchmarkAt(b *testing.B)       { benchmark(b, func(s *Schedule, t time.Time) { s.At(t) }) }
func BenchmarkNext(b *testing.B)     { benchmark(b, func(s *Schedule, t time.Time) { s.Next(t) }) }
func BenchmarkPrevious(b *testing.B) { benchmark(b, func(s *Schedule, t time.Time) { s.Previous(t) }) }
func BenchmarkEdges(b *testing.B)    { benchmark(b, func(s *Schedule, t time.Time) { s.Edges(t) }) }

func BenchmarkCompile(b *testing.B) {
	for name, spec := range benchmarkSpecs() {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, errs := Compile(spec, root); len(errs) > 0 {
					b.Fatal(errs)
				}
			}
		})
	}
}
