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

// Package fault is a proxy between a client and an API server that loses, delays and
// refuses requests where a test wants it.
//
// What a controller does when it dies between two of its writes, or when a write
// succeeds and its answer is lost, cannot be timed from outside: the gap is a
// millisecond. Seen from the wire there is no timing: the proxy holds the answer to
// the first write in its hand, the test kills the controller, and only then does the
// proxy let go.
//
// A hook sees each request before it goes upstream (OnRequest) or each answer
// before the client gets it (OnResponse) and says what becomes of it: Pass, Drop,
// Fail, Delay or Hold. Hooks run in the goroutine of the request, so what they do,
// such as killing a process, is done before anything else happens to that request.
// They may be called at the same time for different requests. A hook of OnRequest
// that kills the client returns Drop as well, or the request still goes upstream.
//
// The proxy is a TLS server with an authority and a bearer token of its own. It
// authenticates upstream with the credentials of its target, so one proxy stands for
// one identity; give each client under test a proxy of its own. It speaks HTTP/1.1,
// where a request has a connection for itself that can be cut without harm to others.
package fault

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"sync"

	"k8s.io/client-go/rest"

	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/kubeconfig"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/pki"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/ports"
)

// Proxy is a running proxy.
type Proxy struct {
	config *rest.Config
	port   *ports.Port
	token  string
	server *http.Server
	served chan struct{}
	// closed ends what waits for a Hold or a Delay.
	closed chan struct{}
	cancel func()

	mu        sync.Mutex
	lastID    int
	requests  []hook[func(*http.Request) Action]
	responses []hook[func(*http.Request, int) Action]

	closeOnce sync.Once
	closeErr  error
}

type hook[F any] struct {
	id int
	f  F
}

// New starts a proxy in front of target on a free loopback port.
func New(target *rest.Config) (*Proxy, error) {
	upstream, err := url.Parse(target.Host)
	if err != nil {
		return nil, fmt.Errorf("starting a proxy: reading the target's address: %w", err)
	}
	transport, err := rest.TransportFor(target)
	if err != nil {
		return nil, fmt.Errorf("starting a proxy for %s: %w", target.Host, err)
	}
	ca, err := pki.NewCA("fault-proxy-ca")
	if err != nil {
		return nil, err
	}
	serving, err := ca.Serving()
	if err != nil {
		return nil, err
	}
	certificate, err := tls.X509KeyPair(serving.Cert, serving.Key)
	if err != nil {
		return nil, fmt.Errorf("starting a proxy for %s: %w", target.Host, err)
	}
	port, err := ports.Reserve()
	if err != nil {
		return nil, fmt.Errorf("starting a proxy for %s: %w", target.Host, err)
	}
	listener, err := net.Listen("tcp4", port.Address())
	if err != nil {
		return nil, fmt.Errorf("starting a proxy for %s: %w", target.Host, errors.Join(err, ports.Release(port)))
	}
	ctx, cancel := context.WithCancel(context.Background())
	p := &Proxy{
		port:   port,
		token:  rand.Text(),
		served: make(chan struct{}),
		closed: make(chan struct{}),
		cancel: cancel,
	}
	p.config = &rest.Config{
		Host:            "https://" + listener.Addr().String(),
		BearerToken:     p.token,
		TLSClientConfig: rest.TLSClientConfig{CAData: ca.Cert},
		QPS:             -1,
	}
	forward := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(upstream)
			// The client proved itself to the proxy; upstream the target's
			// credentials are used, which an Authorization header would override.
			r.Out.Header.Del("Authorization")
		},
		Transport: transport,
		// Watches are answers without an end.
		FlushInterval:  -1,
		ModifyResponse: p.answered,
		ErrorHandler:   p.failed,
		ErrorLog:       log.New(io.Discard, "", 0),
	}
	p.server = &http.Server{
		Handler:     p.authenticated(p.asked(forward)),
		BaseContext: func(net.Listener) context.Context { return ctx },
		TLSConfig:   &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12},
		// Not nil, which would switch HTTP/2 on.
		TLSNextProto: map[string]func(*http.Server, *tls.Conn, http.Handler){},
		ErrorLog:     log.New(io.Discard, "", 0),
	}
	go func() {
		defer close(p.served)
		_ = p.server.ServeTLS(listener, "", "")
	}()
	return p, nil
}

// Config is a client configuration that goes through the proxy, without a
// client-side rate limit. Each call returns a copy.
func (p *Proxy) Config() *rest.Config { return rest.CopyConfig(p.config) }

// Kubeconfig renders Config as a kubeconfig.
func (p *Proxy) Kubeconfig() ([]byte, error) { return kubeconfig.FromConfig("fault-proxy", p.config) }

// OnRequest adds a hook that sees each request before it goes upstream, until it is
// removed. Where several hooks do not say Pass, the one added first counts. A hook
// may read the request's body.
func (p *Proxy) OnRequest(f func(*http.Request) Action) (remove func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lastID++
	id := p.lastID
	p.requests = append(p.requests, hook[func(*http.Request) Action]{id: id, f: f})
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.requests = without(p.requests, id)
	}
}

// OnResponse adds a hook that sees each answer's request, as OnRequest did, and
// status code, after the upstream has answered and before the client knows. What a
// write did is done by then. For a watch it is called once, at its start.
func (p *Proxy) OnResponse(f func(request *http.Request, code int) Action) (remove func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lastID++
	id := p.lastID
	p.responses = append(p.responses, hook[func(*http.Request, int) Action]{id: id, f: f})
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.responses = without(p.responses, id)
	}
}

// without returns a new slice: the old one may be in use by a request.
func without[F any](hooks []hook[F], id int) []hook[F] {
	kept := make([]hook[F], 0, len(hooks))
	for _, h := range hooks {
		if h.id != id {
			kept = append(kept, h)
		}
	}
	return kept
}

// Close cuts all connections and ends the proxy. Held and delayed requests are
// dropped. Calling it again returns what it returned first.
func (p *Proxy) Close() error {
	p.closeOnce.Do(func() {
		close(p.closed)
		p.cancel()
		p.closeErr = p.server.Close()
		<-p.served
		p.closeErr = errors.Join(p.closeErr, ports.Release(p.port))
	})
	return p.closeErr
}

func (p *Proxy) authenticated(next http.Handler) http.Handler {
	want := []byte("Bearer " + p.token)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), want) != 1 {
			http.Error(w, "the proxy's own token is missing", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

type contextKey struct{}

// inbound is a request as its hooks see it.
type inbound struct {
	request *http.Request
	body    []byte
}

// show returns the request with a body that can be read from its start.
func (in *inbound) show() *http.Request {
	shown := in.request.Clone(in.request.Context())
	shown.Body = io.NopCloser(bytes.NewReader(in.body))
	return shown
}

// asked runs the hooks for requests and hands on those that pass.
func (p *Proxy) asked(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Requests to an API server are documents, not streams: they are read whole,
		// so that hooks can look at them.
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		in := &inbound{request: r, body: body}
		p.mu.Lock()
		hooks := slices.Clone(p.requests)
		p.mu.Unlock()
		action := Pass
		for _, h := range hooks {
			if chosen := h.f(in.show()); action.passes() {
				action = chosen
			}
		}
		switch code, err := p.carryOut(r.Context(), action); {
		case err != nil:
			panic(http.ErrAbortHandler)
		case code != 0:
			writeStatus(w, code)
			return
		}
		out := r.WithContext(context.WithValue(r.Context(), contextKey{}, in))
		out.Body = io.NopCloser(bytes.NewReader(body))
		out.ContentLength = int64(len(body))
		next.ServeHTTP(w, out)
	})
}

// answered runs the hooks for answers.
func (p *Proxy) answered(response *http.Response) error {
	in, ok := response.Request.Context().Value(contextKey{}).(*inbound)
	if !ok {
		return errors.New("an answer to no request")
	}
	p.mu.Lock()
	hooks := slices.Clone(p.responses)
	p.mu.Unlock()
	action := Pass
	for _, h := range hooks {
		if chosen := h.f(in.show(), response.StatusCode); action.passes() {
			action = chosen
		}
	}
	code, err := p.carryOut(response.Request.Context(), action)
	if err != nil {
		return err
	}
	if code != 0 {
		return replace(response, code)
	}
	return nil
}

// failed is called where the upstream cannot be reached or an answer is dropped. A
// client without the proxy would see its connection fail, so it sees the same here.
func (p *Proxy) failed(http.ResponseWriter, *http.Request, error) {
	panic(http.ErrAbortHandler)
}
