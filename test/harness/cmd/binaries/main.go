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

// Command binaries builds the programs that the test harness and the demo run, all
// of them or those named, and prints where each of them is.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/binaries"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "binaries:", err)
		os.Exit(1)
	}
}

func run(arguments []string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	names := binaries.All()
	if len(arguments) > 0 {
		names = nil
		for _, argument := range arguments {
			names = append(names, binaries.Name(argument))
		}
	}
	dir, err := binaries.Ensure(ctx, os.Stderr, names...)
	if err != nil {
		return err
	}
	for _, name := range names {
		fmt.Printf("%s\t%s\n", name, filepath.Clean(dir.Path(name)))
	}
	return nil
}
