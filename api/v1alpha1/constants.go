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

package v1alpha1

const (
	// ScheduledMachineFinalizer keeps a ScheduledMachine until its Machine,
	// bootstrap and infrastructure objects are gone.
	ScheduledMachineFinalizer = "5spot.finos.org/scheduledmachine"

	// ScheduledMachineLabel is on the Machine, bootstrap and infrastructure
	// objects; its value is the ScheduledMachine's name, hashed where that is
	// longer than a label value may be.
	ScheduledMachineLabel = "5spot.finos.org/scheduled-machine"

	// AppliedTaintsAnnotation is on Nodes: a JSON array of {key, value, effect},
	// the taints that this provider applied there and therefore owns. It is
	// written in the same request as the taints and is the record that counts.
	AppliedTaintsAnnotation = "5spot.finos.org/applied-taints"

	// ShutdownSinceAnnotation is on a ScheduledMachine that is shutting down: the
	// instant (RFC 3339) from which gracefulShutdownTimeout counts. It lives in
	// metadata because status does not survive `clusterctl move`.
	ShutdownSinceAnnotation = "5spot.finos.org/shutdown-since"

	// SourceHashAnnotation is on bootstrap and infrastructure objects: a hash of the
	// part of the spec that they were made from, so that a spec corrected before the
	// Machine exists is not met with objects of the old one.
	SourceHashAnnotation = "5spot.finos.org/source-hash"

	// FieldManager is the field manager of every write, to Nodes and to what is
	// made in the management cluster.
	FieldManager = "5spot-controller"

	// NodeFieldManager is the field manager of every write to a Node.
	NodeFieldManager = FieldManager
)

// Condition types of a ScheduledMachine. Polarity is positive except for
// TaintOwnershipConflict and Paused.
const (
	// ReadyCondition sums the other conditions up.
	ReadyCondition = "Ready"
	// ScheduleActiveCondition says whether the schedule asks for the Machine now.
	ScheduleActiveCondition = "ScheduleActive"
	// ScheduleValidCondition says whether the spec can be acted upon at all.
	ScheduleValidCondition = "ScheduleValid"
	// MachineReadyCondition mirrors the Machine, or says why there is none.
	MachineReadyCondition = "MachineReady"
	// NodeTaintedCondition says whether spec.nodeTaints are on the Node.
	NodeTaintedCondition = "NodeTainted"
	// TaintOwnershipConflictCondition names the declared taints that somebody
	// else holds with another value.
	TaintOwnershipConflictCondition = "TaintOwnershipConflict"
	// PausedCondition says whether the ScheduledMachine or its Cluster is paused.
	PausedCondition = "Paused"
)

// Reasons of ScheduleActive.
const (
	InWindowReason        = "InWindow"
	OutOfWindowReason     = "OutOfWindow"
	ForcedOnReason        = "ForcedOnByException"
	ForcedOffReason       = "ForcedOffByException"
	DisabledReason        = "Disabled"
	KillSwitchReason      = "KillSwitch"
	DeletingReason        = "Deleting"
	ClusterDeletingReason = "ClusterDeleting"
	ClusterNotFoundReason = "ClusterNotFound"
	InvalidSpecReason     = "InvalidSpec"
	ScheduleValidReason   = "Valid"
)

// Reasons of MachineReady.
const (
	MachineReadyReason            = "Ready"
	MachineNotReadyReason         = "NotReady"
	NoMachineReason               = "NoMachine"
	MachineDeletingReason         = "Deleting"
	NameTakenReason               = "NameTaken"
	CreateFailedReason            = "CreateFailed"
	DeleteFailedReason            = "DeleteFailed"
	TemplateNotFoundReason        = "TemplateNotFound"
	WaitingForPreviousReason      = "WaitingForPreviousMachine"
	WaitingForShutdownGraceReason = "ShuttingDown"
)

// Reasons of NodeTainted and TaintOwnershipConflict.
const (
	// TaintsAppliedReason: every declared taint is on the Node.
	TaintsAppliedReason = "Applied"
	// NodeNotReadyReason: the Node is not Ready, so nothing is applied yet.
	NodeNotReadyReason = "NodeNotReady"
	// PatchFailedReason: the API server refused the write; the message tells why.
	PatchFailedReason = "PatchFailed"
	// TaintOwnershipConflictReason: somebody else holds a declared taint.
	TaintOwnershipConflictReason = "TaintOwnershipConflict"
	// NoNodeYetReason: the Machine has no Node.
	NoNodeYetReason = "NoNodeYet"
	// NoConflictReason: no declared taint is held by somebody else.
	NoConflictReason = "NoConflict"
	// ClusterUnreachableReason: the workload cluster cannot be reached, so the
	// state of the Node is not known.
	ClusterUnreachableReason = "ClusterUnreachable"
	// InvalidTaintsReason: spec.nodeTaints breaks a rule; nothing is applied.
	InvalidTaintsReason = "InvalidTaints"
)

// Reasons of Events on a ScheduledMachine.
const (
	// NodeTaintsAppliedEvent lists what one write changed, as key=value:Effect.
	NodeTaintsAppliedEvent = "NodeTaintsApplied"
	// TaintConflictEvent names the taints that somebody else holds.
	TaintConflictEvent = "TaintOwnershipConflict"
	// MachineCreatedEvent: the window opened and the Machine was created.
	MachineCreatedEvent = "MachineCreated"
	// MachineDeletedEvent: the Machine was asked to go, and why.
	MachineDeletedEvent = "MachineDeleted"
	// ShutdownStartedEvent: the window closed and the grace runs.
	ShutdownStartedEvent = "ShutdownStarted"
	// ShutdownCancelledEvent: the window opened again within the grace.
	ShutdownCancelledEvent = "ShutdownCancelled"
	// InvalidSpecEvent: the spec cannot be acted upon.
	InvalidSpecEvent = "InvalidSpec"
	// NameTakenEvent: an object of that name exists and is not ours.
	NameTakenEvent = "NameTaken"
)
