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

package fault

import (
	"net/http"
	"slices"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/endpoints/request"
)

// Request is what a request asks of an API server, in the API server's own terms.
type Request struct {
	// Verb is get, list, watch, create, update, patch, delete or deletecollection.
	Verb        string
	Group       string
	Resource    string
	Subresource string
	Namespace   string
	// Name is empty where the object's name stands in the body, as for a create.
	Name string
}

// Write tells whether the request changes something.
func (r Request) Write() bool {
	return slices.Contains([]string{"create", "update", "patch", "delete", "deletecollection"}, r.Verb)
}

var resolver = &request.RequestInfoFactory{
	APIPrefixes:          sets.NewString("api", "apis"),
	GrouplessAPIPrefixes: sets.NewString("api"),
}

// Describe reads a request the way the API server does. Requests that are not for
// resources, such as discovery, have an empty Resource.
func Describe(r *http.Request) Request {
	info, err := resolver.NewRequestInfo(r)
	if err != nil || !info.IsResourceRequest {
		return Request{}
	}
	return Request{
		Verb:        info.Verb,
		Group:       info.APIGroup,
		Resource:    info.Resource,
		Subresource: info.Subresource,
		Namespace:   info.Namespace,
		Name:        info.Name,
	}
}
