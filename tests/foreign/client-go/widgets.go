// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
)

// defineWidgets creates the custom resource, unless it exists, and waits until it is served.
func defineWidgets(ctx context.Context, client dynamic.Interface) error {
	definitions := schema.GroupVersionResource{
		Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	object := func(properties map[string]any) map[string]any {
		return map[string]any{"type": "object", "properties": properties}
	}
	definition := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1",
		"kind":       "CustomResourceDefinition",
		"metadata":   map[string]any{"name": "widgets.foreign.example.com"},
		"spec": map[string]any{
			"group": "foreign.example.com",
			"scope": "Namespaced",
			"names": map[string]any{"plural": "widgets", "singular": "widget", "kind": "Widget"},
			"versions": []any{map[string]any{
				"name": "v1", "served": true, "storage": true,
				"schema": map[string]any{"openAPIV3Schema": object(map[string]any{
					"spec": object(map[string]any{
						"size":  map[string]any{"type": "integer"},
						"color": map[string]any{"type": "string"},
					}),
				})},
			}},
		},
	}}
	_, err := client.Resource(definitions).Create(ctx, definition, meta.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	return wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, 20*time.Second, true,
		func(ctx context.Context) (bool, error) {
			_, err := client.Resource(widgets).List(ctx, meta.ListOptions{})
			return err == nil, nil
		})
}
