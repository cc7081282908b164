// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	clientfeatures "k8s.io/client-go/features"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// objects is the number of objects written of each kind; some exist before the informers start.
const objects = 20

var (
	configMaps  = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	pods        = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	deployments = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	widgets     = schema.GroupVersionResource{Group: "foreign.example.com", Version: "v1", Resource: "widgets"}
)

// gates overrides one of client-go's feature gates.
type gates struct {
	clientfeatures.Gates
	watchList bool
}

func (g gates) Enabled(feature clientfeatures.Feature) bool {
	if feature == clientfeatures.WatchListClient {
		return g.watchList
	}
	return g.Gates.Enabled(feature)
}

// withWatchList makes informers stream their initial state, or list it.
func withWatchList(on bool) {
	current := clientfeatures.FeatureGates()
	if mine, is := current.(gates); is {
		current = mine.Gates
	}
	clientfeatures.ReplaceFeatureGates(gates{current, on})
}

// streams counts the requests for a streamed initial state.
type streams struct {
	next  http.RoundTripper
	count *atomic.Int64
}

func (s streams) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.URL.Query().Get("sendInitialEvents") == "true" {
		s.count.Add(1)
	}
	return s.next.RoundTrip(request)
}

// counts are the events that a handler has received.
type counts struct {
	adds, updates, deletes atomic.Int64
}

func (c *counts) handler() cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { c.adds.Add(1) },
		UpdateFunc: func(before, after any) {
			if versionOf(before) != versionOf(after) {
				c.updates.Add(1)
			}
		},
		DeleteFunc: func(any) { c.deletes.Add(1) },
	}
}

func versionOf(object any) string {
	accessor, err := asMeta(object)
	if err != nil {
		return ""
	}
	return accessor.GetResourceVersion()
}

func asMeta(object any) (meta.Object, error) {
	if accessor, is := object.(meta.Object); is {
		return accessor, nil
	}
	return nil, fmt.Errorf("%T is not an object", object)
}

// follow is one informer under test.
type follow struct {
	name     string
	informer cache.SharedIndexInformer
	seen     *counts
	// list returns the expected content of the cache from the server.
	list func(ctx context.Context) ([]runtime.Object, error)
}

// space creates a namespace for one check.
func space(ctx context.Context, client kubernetes.Interface) (string, error) {
	made, err := client.CoreV1().Namespaces().Create(ctx,
		&core.Namespace{ObjectMeta: meta.ObjectMeta{GenerateName: "foreign-"}}, meta.CreateOptions{})
	if err != nil {
		return "", err
	}
	return made.Name, nil
}

func configMap(i int) *core.ConfigMap {
	return &core.ConfigMap{
		ObjectMeta: meta.ObjectMeta{Name: fmt.Sprintf("map-%d", i)},
		Data:       map[string]string{"n": fmt.Sprint(i)},
	}
}

func pod(i int) *core.Pod {
	return &core.Pod{
		ObjectMeta: meta.ObjectMeta{Name: fmt.Sprintf("pod-%d", i), Labels: map[string]string{"app": "web"}},
		Spec:       core.PodSpec{Containers: []core.Container{{Name: "main", Image: "nginx"}}},
	}
}

func deployment(i int) *apps.Deployment {
	labels := map[string]string{"app": fmt.Sprintf("web-%d", i)}
	return &apps.Deployment{
		ObjectMeta: meta.ObjectMeta{Name: fmt.Sprintf("web-%d", i)},
		Spec: apps.DeploymentSpec{
			Selector: &meta.LabelSelector{MatchLabels: labels},
			Template: core.PodTemplateSpec{ObjectMeta: meta.ObjectMeta{Labels: labels}, Spec: pod(i).Spec},
		},
	}
}

func widget(i int) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "foreign.example.com/v1",
		"kind":       "Widget",
		"metadata":   map[string]any{"name": fmt.Sprintf("widget-%d", i)},
		"spec":       map[string]any{"size": int64(i)},
	}}
}

// write runs the life cycle of one object of each kind: create, update, patch and, if its number is
// even, delete.
func write(ctx context.Context, client kubernetes.Interface, dynamics dynamic.Interface, ns string, i int) error {
	maps, allPods, deploys := client.CoreV1().ConfigMaps(ns), client.CoreV1().Pods(ns), client.AppsV1().Deployments(ns)
	made, err := maps.Create(ctx, configMap(i), meta.CreateOptions{})
	if err != nil {
		return err
	}
	made.Data["more"] = "yes"
	if _, err = maps.Update(ctx, made, meta.UpdateOptions{}); err != nil {
		return err
	}
	if _, err = allPods.Create(ctx, pod(i), meta.CreateOptions{}); err != nil {
		return err
	}
	if _, err = allPods.Patch(ctx, pod(i).Name, types.StrategicMergePatchType,
		[]byte(`{"metadata":{"labels":{"tier":"front"}}}`), meta.PatchOptions{}); err != nil {
		return err
	}
	if _, err = deploys.Create(ctx, deployment(i), meta.CreateOptions{}); err != nil {
		return err
	}
	if _, err = deploys.Patch(ctx, deployment(i).Name, types.MergePatchType,
		[]byte(`{"spec":{"replicas":3}}`), meta.PatchOptions{}); err != nil {
		return err
	}
	custom := dynamics.Resource(widgets).Namespace(ns)
	if _, err = custom.Create(ctx, widget(i), meta.CreateOptions{}); err != nil {
		return err
	}
	if _, err = custom.Patch(ctx, widget(i).GetName(), types.JSONPatchType,
		[]byte(`[{"op":"add","path":"/spec/color","value":"red"}]`), meta.PatchOptions{}); err != nil {
		return err
	}
	if i%2 != 0 {
		return nil
	}
	now := int64(0)
	gone := meta.DeleteOptions{GracePeriodSeconds: &now}
	return errors.Join(maps.Delete(ctx, made.Name, gone), allPods.Delete(ctx, pod(i).Name, gone),
		deploys.Delete(ctx, deployment(i).Name, gone), custom.Delete(ctx, widget(i).GetName(), gone))
}

// clients creates the clients, the namespace and the custom resource of an informer check.
func clients(ctx context.Context, config *rest.Config) (kubernetes.Interface, dynamic.Interface, string, error) {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, nil, "", err
	}
	plain := rest.CopyConfig(config)
	plain.ContentType = "application/json"
	dynamics, err := dynamic.NewForConfig(plain)
	if err != nil {
		return nil, nil, "", err
	}
	if err := defineWidgets(ctx, dynamics); err != nil {
		return nil, nil, "", fmt.Errorf("custom resource: %w", err)
	}
	ns, err := space(ctx, client)
	return client, dynamics, ns, err
}

// countStreams counts the requests of a configuration's clients for a streamed initial state.
func countStreams(config *rest.Config) *atomic.Int64 {
	count := &atomic.Int64{}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return streams{next, count} })
	return count
}

// asked returns an error if the informers did not start in the requested mode.
func asked(watchList bool, streamed *atomic.Int64) error {
	if got := streamed.Load(); (got > 0) != watchList {
		return fmt.Errorf("%d streamed initial states", got)
	}
	return nil
}

// observe writes before and while the informers run, and waits until each of them has seen all
// changes.
func observe(ctx context.Context, client kubernetes.Interface, dynamics dynamic.Interface, ns string,
	start func(stop <-chan struct{}), follows []*follow) error {
	for i := 0; i < objects/2; i++ {
		if err := write(ctx, client, dynamics, ns, i); err != nil {
			return err
		}
	}
	running, end := context.WithCancel(ctx)
	defer end()
	for _, f := range follows {
		if _, err := f.informer.AddEventHandler(f.seen.handler()); err != nil {
			return err
		}
	}
	start(running.Done())
	for _, f := range follows {
		if !cache.WaitForCacheSync(ctx.Done(), f.informer.HasSynced) {
			return fmt.Errorf("%s: does not sync", f.name)
		}
	}
	for i := objects / 2; i < objects; i++ {
		if err := write(ctx, client, dynamics, ns, i); err != nil {
			return err
		}
	}
	for _, f := range follows {
		var last error
		err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, 20*time.Second, true,
			func(ctx context.Context) (bool, error) {
				last = f.settled(ctx)
				return last == nil, nil
			})
		if err != nil {
			return fmt.Errorf("%s: %w", f.name, last)
		}
	}
	return nil
}

// settled returns the reason why the informer is not up to date, or nil.
func (f *follow) settled(ctx context.Context) error {
	listed, err := f.list(ctx)
	if err != nil {
		return err
	}
	cached := f.informer.GetStore().List()
	if len(cached) != len(listed) {
		return fmt.Errorf("%d objects in the cache, %d in the list", len(cached), len(listed))
	}
	byName := map[string]any{}
	for _, object := range cached {
		accessor, err := asMeta(object)
		if err != nil {
			return err
		}
		byName[accessor.GetName()] = object
	}
	for _, object := range listed {
		accessor, err := asMeta(object)
		if err != nil {
			return err
		}
		if !equality.Semantic.DeepEqual(byName[accessor.GetName()], any(object)) {
			return fmt.Errorf("%s differs:\ncache %+v\nlist  %+v", accessor.GetName(), byName[accessor.GetName()], object)
		}
	}
	// Half of the objects existed before the start, and half of those were deleted by then.
	adds, updates, deletes := f.seen.adds.Load(), f.seen.updates.Load(), f.seen.deletes.Load()
	if adds != objects/4+objects/2 || deletes != objects/4 {
		return fmt.Errorf("%d adds, %d updates, %d deletes", adds, updates, deletes)
	}
	// Deleting a pod first sets its deletion timestamp, which is an update.
	if wanted := int64(objects / 2); updates != wanted && !(f.name == "pods" && updates == wanted+objects/4) {
		return fmt.Errorf("%d updates", updates)
	}
	return nil
}

func typedInformers(watchList bool, format string) check {
	name := fmt.Sprintf("typed informers, watch-list %t, %s", watchList, format)
	return check{name, func(ctx context.Context, config *rest.Config) error {
		withWatchList(watchList)
		streamed := countStreams(config)
		config.ContentType = format
		config.AcceptContentTypes = format
		client, dynamics, ns, err := clients(ctx, config)
		if err != nil {
			return err
		}
		factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(ns))
		follows := []*follow{
			{"configmaps", factory.Core().V1().ConfigMaps().Informer(), &counts{}, func(ctx context.Context) ([]runtime.Object, error) {
				list, err := client.CoreV1().ConfigMaps(ns).List(ctx, meta.ListOptions{})
				return pointers(list.Items), err
			}},
			{"pods", factory.Core().V1().Pods().Informer(), &counts{}, func(ctx context.Context) ([]runtime.Object, error) {
				list, err := client.CoreV1().Pods(ns).List(ctx, meta.ListOptions{})
				return pointers(list.Items), err
			}},
			{"deployments", factory.Apps().V1().Deployments().Informer(), &counts{}, func(ctx context.Context) ([]runtime.Object, error) {
				list, err := client.AppsV1().Deployments(ns).List(ctx, meta.ListOptions{})
				return pointers(list.Items), err
			}},
		}
		return errors.Join(observe(ctx, client, dynamics, ns, factory.Start, follows), asked(watchList, streamed))
	}}
}

// pointers converts the items of a list to objects.
func pointers[T any, P interface {
	*T
	runtime.Object
}](items []T) []runtime.Object {
	result := make([]runtime.Object, len(items))
	for i := range items {
		result[i] = P(&items[i])
	}
	return result
}

func dynamicInformers(watchList bool) check {
	return check{fmt.Sprintf("dynamic informers, watch-list %t", watchList), func(ctx context.Context, config *rest.Config) error {
		withWatchList(watchList)
		streamed := countStreams(config)
		client, dynamics, ns, err := clients(ctx, config)
		if err != nil {
			return err
		}
		factory := dynamicinformer.NewFilteredDynamicSharedInformerFactory(dynamics, 0, ns, nil)
		var follows []*follow
		for _, resource := range []schema.GroupVersionResource{configMaps, pods, deployments, widgets} {
			follows = append(follows, &follow{resource.Resource, factory.ForResource(resource).Informer(), &counts{},
				func(ctx context.Context) ([]runtime.Object, error) {
					list, err := dynamics.Resource(resource).Namespace(ns).List(ctx, meta.ListOptions{})
					if err != nil {
						return nil, err
					}
					return pointers(list.Items), nil
				}})
		}
		return errors.Join(observe(ctx, client, dynamics, ns, factory.Start, follows), asked(watchList, streamed))
	}}
}

func metadataInformers(watchList bool) check {
	return check{fmt.Sprintf("metadata informers, watch-list %t", watchList), func(ctx context.Context, config *rest.Config) error {
		withWatchList(watchList)
		streamed := countStreams(config)
		client, dynamics, ns, err := clients(ctx, config)
		if err != nil {
			return err
		}
		metadatas, err := metadata.NewForConfig(config)
		if err != nil {
			return err
		}
		factory := metadatainformer.NewFilteredSharedInformerFactory(metadatas, 0, ns, nil)
		var follows []*follow
		for _, resource := range []schema.GroupVersionResource{configMaps, pods, deployments, widgets} {
			follows = append(follows, &follow{resource.Resource, factory.ForResource(resource).Informer(), &counts{},
				func(ctx context.Context) ([]runtime.Object, error) {
					list, err := metadatas.Resource(resource).Namespace(ns).List(ctx, meta.ListOptions{})
					if err != nil {
						return nil, err
					}
					return pointers(list.Items), nil
				}})
		}
		return errors.Join(observe(ctx, client, dynamics, ns, factory.Start, follows), asked(watchList, streamed))
	}}
}
