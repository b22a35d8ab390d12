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
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Action is what becomes of a request or an answer.
type Action struct {
	kind  kind
	code  int
	delay time.Duration
	until <-chan struct{}
}

type kind int

const (
	pass kind = iota
	drop
	fail
	delay
	hold
)

var (
	// Pass lets it through.
	Pass = Action{kind: pass}
	// Drop cuts the client's connection. Dropped as a request it never goes upstream;
	// as an answer, what it asked for is done and the client does not know.
	Drop = Action{kind: drop}
)

// Fail answers with an HTTP status code of 400 or more and a metav1.Status instead.
func Fail(code int) Action { return Action{kind: fail, code: code} }

// Delay lets it through after d.
func Delay(d time.Duration) Action { return Action{kind: delay, delay: d} }

// Hold lets it through once until is closed.
func Hold(until <-chan struct{}) Action { return Action{kind: hold, until: until} }

func (a Action) passes() bool { return a.kind == pass }

var (
	errDropped = errors.New("dropped")
	errClosed  = errors.New("the proxy was closed")
)

// carryOut waits as the action says. It returns a status code where the answer is to
// be replaced, and an error where the connection is to be cut.
func (p *Proxy) carryOut(ctx context.Context, action Action) (code int, err error) {
	switch action.kind {
	case pass:
		return 0, nil
	case drop:
		return 0, errDropped
	case fail:
		return action.code, nil
	case delay:
		timer := time.NewTimer(action.delay)
		defer timer.Stop()
		select {
		case <-timer.C:
			return 0, nil
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-p.closed:
			return 0, errClosed
		}
	case hold:
		select {
		case <-action.until:
			return 0, nil
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-p.closed:
			return 0, errClosed
		}
	default:
		return 0, fmt.Errorf("no such action: %d", action.kind)
	}
}

func status(code int) ([]byte, error) {
	return json.Marshal(metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
		Status:   metav1.StatusFailure,
		Message:  "failed by the test's proxy",
		Reason:   reason(code),
		Code:     int32(code), //nolint:gosec // An HTTP status code.
	})
}

// reason is the one that an API server gives with code, where there is only one.
func reason(code int) metav1.StatusReason {
	switch code {
	case http.StatusUnauthorized:
		return metav1.StatusReasonUnauthorized
	case http.StatusForbidden:
		return metav1.StatusReasonForbidden
	case http.StatusNotFound:
		return metav1.StatusReasonNotFound
	case http.StatusConflict:
		return metav1.StatusReasonConflict
	case http.StatusUnprocessableEntity:
		return metav1.StatusReasonInvalid
	case http.StatusTooManyRequests:
		return metav1.StatusReasonTooManyRequests
	case http.StatusInternalServerError:
		return metav1.StatusReasonInternalError
	case http.StatusServiceUnavailable:
		return metav1.StatusReasonServiceUnavailable
	case http.StatusGatewayTimeout:
		return metav1.StatusReasonTimeout
	default:
		return metav1.StatusReasonUnknown
	}
}

func writeStatus(w http.ResponseWriter, code int) {
	body, err := status(code)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_, _ = w.Write(body)
}

// replace puts a failure in the place of an answer.
func replace(response *http.Response, code int) error {
	body, err := status(code)
	if err != nil {
		return err
	}
	if err := response.Body.Close(); err != nil {
		return err
	}
	response.StatusCode = code
	response.Status = fmt.Sprintf("%d %s", code, http.StatusText(code))
	response.Body = io.NopCloser(bytes.NewReader(body))
	response.ContentLength = int64(len(body))
	response.TransferEncoding = nil
	response.Header = http.Header{
		"Content-Type":   {"application/json"},
		"Content-Length": {strconv.Itoa(len(body))},
	}
	return nil
}
