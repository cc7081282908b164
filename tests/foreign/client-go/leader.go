// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	corev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/tools/record"
)

// leaderElection runs two candidates: one leads at a time, and when it releases the lease, the
// other takes over.
func leaderElection(ctx context.Context, config *rest.Config) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	ns, err := space(ctx, client)
	if err != nil {
		return err
	}
	leaders := make(chan string, 10)
	var mutex sync.Mutex
	leading, most := 0, 0
	var running sync.WaitGroup
	defer running.Wait()
	ends := map[string]context.CancelFunc{}
	for _, name := range []string{"one", "two"} {
		elected, end := context.WithCancel(ctx)
		defer end()
		ends[name] = end
		elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
			Lock: &resourcelock.LeaseLock{
				LeaseMeta:  meta.ObjectMeta{Namespace: ns, Name: "leader"},
				Client:     client.CoordinationV1(),
				LockConfig: resourcelock.ResourceLockConfig{Identity: name},
			},
			LeaseDuration:   4 * time.Second,
			RenewDeadline:   3 * time.Second,
			RetryPeriod:     200 * time.Millisecond,
			ReleaseOnCancel: true,
			Callbacks: leaderelection.LeaderCallbacks{
				OnStartedLeading: func(ctx context.Context) {
					mutex.Lock()
					leading++
					most = max(most, leading)
					mutex.Unlock()
					leaders <- name
					<-ctx.Done()
					mutex.Lock()
					leading--
					mutex.Unlock()
				},
				OnStoppedLeading: func() {},
			},
		})
		if err != nil {
			return err
		}
		running.Go(func() { elector.Run(elected) })
	}
	next := func() (string, error) {
		select {
		case name := <-leaders:
			return name, nil
		case <-time.After(15 * time.Second):
			return "", errors.New("there is no leader")
		}
	}
	first, err := next()
	if err != nil {
		return err
	}
	ends[first]()
	second, err := next()
	if err != nil {
		return fmt.Errorf("after %s gave up: %w", first, err)
	}
	if second == first {
		return fmt.Errorf("%s leads again", first)
	}
	lease, err := client.CoordinationV1().Leases(ns).Get(ctx, "leader", meta.GetOptions{})
	if err != nil {
		return err
	}
	if *lease.Spec.HolderIdentity != second || *lease.Spec.LeaseTransitions < 1 {
		return fmt.Errorf("lease is held by %q after %d transitions", *lease.Spec.HolderIdentity, *lease.Spec.LeaseTransitions)
	}
	mutex.Lock()
	defer mutex.Unlock()
	if most != 1 {
		return fmt.Errorf("%d led at the same time", most)
	}
	ends[second]()
	return nil
}

// eventRecorder records the same event three times, which creates one object with a count.
func eventRecorder(ctx context.Context, config *rest.Config) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	ns, err := space(ctx, client)
	if err != nil {
		return err
	}
	about, err := client.CoreV1().ConfigMaps(ns).Create(ctx, configMap(0), meta.CreateOptions{})
	if err != nil {
		return err
	}
	broadcaster := record.NewBroadcaster()
	defer broadcaster.Shutdown()
	broadcaster.StartRecordingToSink(&corev1.EventSinkImpl{Interface: client.CoreV1().Events("")})
	recorder := broadcaster.NewRecorder(scheme.Scheme, core.EventSource{Component: "foreign"})
	for range 3 {
		recorder.Event(about, core.EventTypeNormal, "Tested", "a client of another language was here")
	}
	var last string
	err = wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, 15*time.Second, true,
		func(ctx context.Context) (bool, error) {
			list, err := client.CoreV1().Events(ns).List(ctx, meta.ListOptions{
				FieldSelector: "involvedObject.kind=ConfigMap,involvedObject.name=" + about.Name + ",reason=Tested"})
			if err != nil {
				return false, err
			}
			last = fmt.Sprintf("%d events", len(list.Items))
			if len(list.Items) != 1 {
				return false, nil
			}
			last = fmt.Sprintf("counts %d", list.Items[0].Count)
			return list.Items[0].Count == 3 && list.Items[0].InvolvedObject.UID == about.UID, nil
		})
	if err != nil {
		return fmt.Errorf("%w: %s", err, last)
	}
	return nil
}
