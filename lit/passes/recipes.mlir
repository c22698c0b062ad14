// RUN: accopt %s -p convert-acc-compute-to-gpu | filecheck %s --check-prefix=GPU
// RUN: accopt %s -p convert-acc-compute-to-host | filecheck %s --check-prefix=HOST
// RUN: accopt %s --emit=ptx | filecheck %s --check-prefix=PTX

// What is executed of a recipe is its regions: a combiner that no operator of OpenACC has is cloned where
// copies are combined, whatever its `reduction_operator` says, and an operator is known by its arithmetic.

// PTX: .visible .entry
// PTX: abs.f32

module attributes {accx.version = 3 : i32, accx.stage = "transformed"} {
acc.reduction.recipe @odd : !llvm.ptr reduction_operator <add> init {
^bb0(%v: !llvm.ptr):
  %one = arith.constant 1 : i32
  %copy = llvm.alloca %one x f32 : (i32) -> !llvm.ptr
  %first = arith.constant 2.5 : f32
  llvm.store %first, %copy : f32, !llvm.ptr
  acc.yield %copy : !llvm.ptr
} combiner {
^bb0(%a: !llvm.ptr, %b: !llvm.ptr):
  %x = llvm.load %a : !llvm.ptr -> f32
  %y = llvm.load %b : !llvm.ptr -> f32
  %z = math.absf %y : f32
  %both = arith.mulf %x, %z : f32
  llvm.store %both, %a : f32, !llvm.ptr
  acc.yield %a : !llvm.ptr
}
acc.reduction.recipe @largest : !llvm.ptr reduction_operator <add> init {
^bb0(%v: !llvm.ptr):
  %one = arith.constant 1 : i32
  %copy = llvm.alloca %one x i32 : (i32) -> !llvm.ptr
  %first = arith.constant 0 : i32
  llvm.store %first, %copy : i32, !llvm.ptr
  acc.yield %copy : !llvm.ptr
} combiner {
^bb0(%a: !llvm.ptr, %b: !llvm.ptr):
  %y = llvm.load %b : !llvm.ptr -> i32
  %x = llvm.load %a : !llvm.ptr -> i32
  %both = arith.maxui %y, %x : i32
  llvm.store %both, %a : i32, !llvm.ptr
  acc.yield %a : !llvm.ptr
}

// Gangs: partial results of each, which the last one combines.
// GPU:         "gpu.func"
// GPU:         math.absf
// GPU:         nvvm.shfl.sync bfly
// GPU:         math.absf
// GPU:         llvm.atomicrmw add
// GPU:         math.absf %of_gang
// HOST-LABEL: llvm.func @gangs_host
// HOST:         arith.constant 2.500000e+00 : f32
// HOST:         math.absf
llvm.func @gangs(%n: i32, %s: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c32 = arith.constant 32 : i32
  %ds = acc.copyin varPtr(%s : !llvm.ptr) varType(f32) -> !llvm.ptr {name = "s"}
  %r = acc.reduction varPtr(%ds : !llvm.ptr) varType(f32) recipe(@odd) -> !llvm.ptr {name = "s"}
  acc.parallel dataOperands(%ds : !llvm.ptr) num_gangs({%n : i32}) num_workers(%c1 : i32) vector_length(%c32 : i32) {
    acc.loop gang vector reduction(%r : !llvm.ptr) control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      %v = llvm.load %r : !llvm.ptr -> f32
      %w = arith.addf %v, %v : f32
      llvm.store %w, %r : f32, !llvm.ptr
      acc.yield
    } attributes {independent = [#acc.device_type<none>], inclusiveUpperbound = array<i1: false>}
    acc.yield
  }
  llvm.return
}

// Workers and lanes: the operator is max, which compares as the combiner does.
// GPU:         "gpu.func"
// GPU-NOT:     arith.addi %partial
// GPU:         nvvm.redux.sync umax
// GPU:         arith.maxui %of_warp
// HOST-LABEL: llvm.func @lanes_host
// HOST:         arith.maxui
llvm.func @lanes(%n: i32, %s: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c32 = arith.constant 32 : i32
  %ds = acc.copyin varPtr(%s : !llvm.ptr) varType(i32) -> !llvm.ptr {name = "s"}
  acc.parallel dataOperands(%ds : !llvm.ptr) num_gangs({%c2 : i32}) num_workers(%c2 : i32) vector_length(%c32 : i32) {
    %r = acc.reduction varPtr(%ds : !llvm.ptr) varType(i32) recipe(@largest) -> !llvm.ptr {name = "s"}
    acc.loop worker vector reduction(%r : !llvm.ptr) control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      llvm.store %i, %r : i32, !llvm.ptr
      acc.yield
    } attributes {independent = [#acc.device_type<none>], inclusiveUpperbound = array<i1: false>}
    acc.yield
  }
  llvm.return
}
}
