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

const (
	day  = `(mon|tue|wed|thu|fri|sat|sun)`
	hour = `([01]?[0-9]|2[0-3])`
)

// The grammars as regular expressions (RE2), for schemas and admission rules that
// must accept what the parsers here accept. They are anchored at both ends.
const (
	// DayListPattern is one item of daysOfWeek, or of a window's days: weekdays
	// and ranges of weekdays between commas. A range may run over the weekend.
	DayListPattern = `^` + day + `(-` + day + `)?(,` + day + `(-` + day + `)?)*$`

	// HourListPattern is one item of hoursOfDay: hours and ranges of hours between
	// commas. A range may run past midnight. One leading zero is accepted.
	HourListPattern = `^` + hour + `(-` + hour + `)?(,` + hour + `(-` + hour + `)?)*$`

	// TimeOfDayPattern is the start or end of a window, 00:00 to 23:59.
	TimeOfDayPattern = `^([01][0-9]|2[0-3]):[0-5][0-9]$`

	// DatePattern is the from or to of an exception. It leaves open whether the
	// month has that day.
	DatePattern = `^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$`

	// TimezonePattern is a name of the IANA database. It leaves open whether the
	// database has that name.
	TimezonePattern = `^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*$`
)
