// SPDX-License-Identifier: Apache-2.0

// The scenarios of bench/informers, done with client-go: each run of the program is one of them, and prints one
// "name value" per line. CPU times are those of the whole process, in us; memory is resident memory in MB (of a
// million bytes).
//
//	client-go sync|storm|relist|reads|delivery|latency|idle --url URL --pods N
package main

import (
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
)

type options struct {
	url        string
	kubeconfig string // of a real cluster, instead of a URL
	pods       int
	informers  int
	json       bool
	list       bool
}

const (
	// settle is the pause before memory is measured, as in the other programs.
	settle      = 1500 * time.Millisecond
	lastVersion = "999999999999"
)

func report(name string, value float64) { fmt.Printf("%s %g\n", name, value) }

func fail(what string, err error) {
	fmt.Fprintln(os.Stderr, "client-go:", what, err)
	os.Exit(1)
}

// config returns the configuration of the cluster or server; the path selects what a replaying server sends.
func (o options) config(path string) *rest.Config {
	config := &rest.Config{Host: o.url + path, BearerToken: "bench"}
	if o.kubeconfig != "" {
		var err error
		if config, err = clientcmd.BuildConfigFromFlags("", o.kubeconfig); err != nil {
			fail("kubeconfig:", err)
		}
	}
	config.QPS = -1
	config.ContentType = "application/vnd.kubernetes.protobuf"
	config.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	if o.json {
		config.ContentType, config.AcceptContentTypes = "application/json", "application/json"
	}
	return config
}

func (o options) client(path string) kubernetes.Interface {
	client, err := kubernetes.NewForConfig(o.config(path))
	if err != nil {
		fail("client:", err)
	}
	return client
}

// get makes a replaying server continue.
func (o options) get(path string) {
	answer, err := http.Get(o.url + path)
	if err != nil {
		fail(path, err)
	}
	answer.Body.Close()
}

// start runs an informer of all pods, or of those in a namespace, with one handler.
func start(client kubernetes.Interface, namespace string, handler cache.ResourceEventHandler) cache.SharedIndexInformer {
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(namespace))
	informer := factory.Core().V1().Pods().Informer()
	if _, err := informer.AddEventHandler(handler); err != nil {
		fail("handler:", err)
	}
	factory.Start(make(chan struct{}))
	return informer
}

func wait(what string, condition func() bool) {
	for end := time.Now().Add(5 * time.Minute); !condition(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			fail("waited in vain:", fmt.Errorf("%s", what))
		}
	}
}

func pod(object any) *corev1.Pod { return object.(*corev1.Pod) }

func main() {
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	scenarios := map[string]func(options){
		"sync": sync, "storm": storm, "relist": relist, "reads": reads, "delivery": delivery, "latency": latency,
		"idle": idle}
	if len(os.Args) < 2 || scenarios[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: client-go sync|storm|relist|reads|delivery|latency|idle --url URL --pods N")
		os.Exit(2)
	}
	var o options
	flags := flag.NewFlagSet(os.Args[1], flag.ExitOnError)
	flags.StringVar(&o.url, "url", "", "of the server")
	flags.StringVar(&o.kubeconfig, "kubeconfig", "", "of a cluster, instead of a URL")
	flags.IntVar(&o.pods, "pods", 0, "how many it has")
	flags.IntVar(&o.informers, "informers", 50, "how many are idle")
	flags.BoolVar(&o.json, "json", false, "JSON instead of protobuf")
	flags.BoolVar(&o.list, "list", false, "lists instead of streamed initial events")
	flags.Parse(os.Args[2:])
	if o.list {
		os.Setenv("KUBE_FEATURE_WatchListClient", "false")
	}
	scenarios[os.Args[1]](o)
}
