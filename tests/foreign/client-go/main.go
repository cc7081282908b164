// SPDX-License-Identifier: Apache-2.0

// Runs what controllers written in Go use against an API server, and checks what they see: informers of several kinds
// in all ways that client-go can list and watch, leader election, and events.
//
//	client-go --kubeconfig FILE
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
)

// check is one thing to try. It returns what went wrong.
type check struct {
	name string
	run  func(ctx context.Context, config *rest.Config) error
}

func main() {
	kubeconfig := flag.String("kubeconfig", "", "of the server's administrator")
	limit := flag.Duration("timeout", time.Minute, "for each check")
	verbose := flag.Bool("verbose", false, "show what client-go logs")
	flag.Parse()
	if !*verbose {
		klog.LogToStderr(false)
		klog.SetOutput(io.Discard)
	}
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		fmt.Fprintln(os.Stderr, "client-go:", err)
		os.Exit(2)
	}
	config.QPS = -1
	var checks []check
	for _, watchList := range []bool{true, false} {
		for _, format := range []string{"application/vnd.kubernetes.protobuf", "application/json"} {
			checks = append(checks, typedInformers(watchList, format))
		}
		checks = append(checks, dynamicInformers(watchList), metadataInformers(watchList))
	}
	checks = append(checks, check{"leader election", leaderElection}, check{"event recorder", eventRecorder})

	failed := 0
	for _, c := range checks {
		ctx, cancel := context.WithTimeout(context.Background(), *limit)
		start := time.Now()
		if err := c.run(ctx, rest.CopyConfig(config)); err != nil {
			failed++
			fmt.Printf("FAILED  %s: %v\n", c.name, err)
		} else {
			fmt.Printf("ok      %s (%.1f s)\n", c.name, time.Since(start).Seconds())
		}
		cancel()
	}
	if failed > 0 {
		fmt.Printf("%d checks failed\n", failed)
		os.Exit(1)
	}
	fmt.Println("all checks passed")
}
