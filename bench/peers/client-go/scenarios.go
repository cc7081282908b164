// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"sort"
	"strconv"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
)

type counts struct{ added, updated, deleted atomic.Int64 }

func (c *counts) handler() cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { c.added.Add(1) },
		UpdateFunc: func(_, _ any) { c.updated.Add(1) },
		DeleteFunc: func(any) { c.deleted.Add(1) },
	}
}

// synced starts an informer and waits until its handler was called for all pods.
func synced(o options, path string) (cache.SharedIndexInformer, *counts) {
	var told counts
	informer := start(o.client(path), "", told.handler())
	wait("sync", func() bool { return told.added.Load() >= int64(o.pods) && informer.HasSynced() })
	return informer, &told
}

func sync(o options) {
	path := "/plain"
	if o.json || o.kubeconfig != "" {
		path = "" // an API server
	}
	began, before := time.Now(), cpu()
	informer, _ := synced(o, path)
	report("wall", time.Since(began).Seconds())
	report("cpu", (cpu()-before)/float64(o.pods))
	most := peak()
	time.Sleep(settle)
	report("settled", resident())
	report("peak", most)
	// Memory after a forced release of all free memory; programs normally do not do that.
	debug.FreeOSMemory()
	report("settled_freed", resident())
	if len(informer.GetStore().ListKeys()) != o.pods {
		fail("sync:", fmt.Errorf("pods are missing"))
	}
}

func storm(o options) {
	events := 6 * o.pods
	path := fmt.Sprintf("/storm/%d", events)
	informer, told := synced(o, path)
	time.Sleep(settle)
	settled := resident()
	forgetPeak()
	began, before := time.Now(), cpu()
	o.get(path + "/go")
	wait("storm", func() bool {
		return told.updated.Load() >= int64(events) && informer.LastSyncResourceVersion() == lastVersion
	})
	report("wall", time.Since(began).Seconds())
	report("cpu", (cpu()-before)/float64(events))
	report("calls", float64(told.updated.Load())/float64(events))
	report("peak", peak()/settled)
	report("peak_mb", peak())
}

func relist(o options) {
	informer, told := synced(o, "/expire")
	time.Sleep(settle)
	before := told.added.Load() + told.updated.Load() + told.deleted.Load()
	settled := resident()
	forgetPeak()
	start := cpu()
	objects := map[any]bool{}
	for _, object := range informer.GetStore().List() {
		objects[object] = true
	}
	o.get("/expire/go")
	replaced := func() bool {
		item, _, _ := informer.GetStore().GetByKey(informer.GetStore().ListKeys()[0])
		return !objects[item]
	}
	wait("relist", replaced)
	time.Sleep(settle)
	report("cpu", (cpu()-start)/float64(o.pods))
	report("peak", peak()/settled)
	report("peak_mb", peak())
	report("calls", float64(told.added.Load()+told.updated.Load()+told.deleted.Load()-before))
}

// nanoseconds returns the minimum time of `count` calls. Go has no CPU time per goroutine.
func nanoseconds(count int, work func(i int)) float64 {
	least := 1e18
	for repetition := 0; repetition < 7; repetition++ {
		began := time.Now()
		for i := 0; i < count; i++ {
			work(i)
		}
		least = min(least, float64(time.Since(began).Nanoseconds())/float64(count))
	}
	return least
}

func reads(o options) {
	informer, _ := synced(o, "/plain")
	lister := listers.NewPodLister(informer.GetIndexer())
	all, _ := lister.List(labels.Everything())
	apps := map[string]int{}
	for _, p := range all {
		apps[p.Labels["pod-template-hash"]]++
	}
	report("find", nanoseconds(len(all), func(i int) {
		p := all[i*7919%len(all)]
		if found, err := lister.Pods(p.Namespace).Get(p.Name); err != nil || found == nil {
			fail("get:", err)
		}
	}))
	var selectors []labels.Selector
	for hash := range apps {
		selectors = append(selectors, labels.SelectorFromSet(labels.Set{"pod-template-hash": hash}))
		if len(selectors) == 10 { // each looks at all pods
			break
		}
	}
	report("select", nanoseconds(len(selectors), func(i int) {
		if found, _ := lister.List(selectors[i]); len(found) == 0 {
			fail("select", nil)
		}
	})/1e3)
	report("selected", float64(len(all))/float64(len(apps)))
	report("list", nanoseconds(5, func(int) { lister.List(labels.Everything()) })/1e3)
}

func latency(o options) {
	client := o.client("")
	var expected atomic.Value
	told := make(chan time.Time, 16)
	expected.Store("")
	informer := start(client, "", cache.ResourceEventHandlerFuncs{
		UpdateFunc: func(_, now any) {
			if pod(now).Status.Message == expected.Load() {
				told <- time.Now()
			}
		},
	})
	wait("sync", informer.HasSynced)
	time.Sleep(settle)
	var small []*corev1.Pod
	for _, object := range informer.GetStore().List() {
		if pod(object).Namespace == "small" {
			small = append(small, pod(object))
		}
	}
	var until []float64
	for n := 1; n <= 1200; n++ {
		p := small[n*7%len(small)]
		// The value is specific to this process: without a change there would be no event.
		message := fmt.Sprintf("%d of %d", n, os.Getpid())
		expected.Store(message)
		body := fmt.Sprintf(`{"status":{"message":"%s"}}`, message)
		began := time.Now()
		if _, err := client.CoreV1().Pods(p.Namespace).Patch(context.Background(), p.Name, types.MergePatchType,
			[]byte(body), metav1.PatchOptions{}, "status"); err != nil {
			fail("patch:", err)
		}
		at := <-told
		if n > 200 { // to get warm
			until = append(until, float64(at.Sub(began).Nanoseconds())/1e3)
		}
	}
	sort.Float64s(until)
	report("median", until[len(until)/2])
	report("p99", until[len(until)*99/100])
}

// delivery is the time from the server's write of an event to the call of the handler; events come one at a time.
func delivery(o options) {
	const events, warmUp = 2200, 200
	path := fmt.Sprintf("/stamped/%d", events)
	until := make([]float64, 0, events)
	done := make(chan struct{})
	informer := start(o.client(path), "", cache.ResourceEventHandlerFuncs{
		UpdateFunc: func(_, object any) {
			now := time.Now().UnixNano()
			written, err := strconv.ParseInt(pod(object).Annotations["bench.kubecxx.dev/written"], 10, 64)
			if err != nil {
				fail("stamp:", err)
			}
			if until = append(until, float64(now-written)/1e3); len(until) == events {
				close(done)
			}
		},
	})
	wait("sync", informer.HasSynced)
	time.Sleep(settle)
	before := cpu()
	o.get(path + "/go")
	<-done
	report("cpu", (cpu()-before)/events)
	until = until[warmUp:]
	sort.Float64s(until)
	report("median", until[len(until)/2])
	report("p99", until[len(until)*99/100])
}

func idle(o options) {
	client, err := dynamic.NewForConfig(o.config(""))
	if err != nil {
		fail("client:", err)
	}
	var all []cache.SharedIndexInformer
	for i := 0; i < o.informers; i++ {
		factory := dynamicinformer.NewFilteredDynamicSharedInformerFactory(client, 0, fmt.Sprintf("empty-%d", i), nil)
		informer := factory.ForResource(corev1.SchemeGroupVersion.WithResource("pods")).Informer()
		if _, err := informer.AddEventHandler((&counts{}).handler()); err != nil {
			fail("handler:", err)
		}
		factory.Start(make(chan struct{}))
		all = append(all, informer)
	}
	for _, informer := range all {
		wait("sync", informer.HasSynced)
	}
	time.Sleep(3 * time.Second)
	report("settled", resident())
	report("threads", threads())
	slept, before := sleeps(), cpu()
	time.Sleep(10 * time.Second)
	report("cpu", cpu()-before)
	report("sleeps", sleeps()-slept)
}
