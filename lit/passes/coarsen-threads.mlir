// RUN: accopt %s -p coarsen-threads | filecheck %s
// RUN: accopt %s -p 'coarsen-threads{most=6}' | filecheck %s --check-prefix FEW

acc.private.recipe @private_i32 : !llvm.ptr init {
^bb0(%a: !llvm.ptr):
  %one = arith.constant 1 : i32
  %copy = llvm.alloca %one x i32 : (i32) -> !llvm.ptr
  acc.yield %copy : !llvm.ptr
}
acc.reduction.recipe @reduction_add_i32 : !llvm.ptr reduction_operator <add> init {
^bb0(%a: !llvm.ptr):
  %one = arith.constant 1 : i32
  %copy = llvm.alloca %one x i32 : (i32) -> !llvm.ptr
  %first = arith.constant 0 : i32
  llvm.store %first, %copy : i32, !llvm.ptr
  acc.yield %copy : !llvm.ptr
} combiner {
^bb0(%a: !llvm.ptr, %b: !llvm.ptr):
  %x = llvm.load %a : !llvm.ptr -> i32
  %y = llvm.load %b : !llvm.ptr -> i32
  %both = arith.addi %x, %y : i32
  llvm.store %both, %a : i32, !llvm.ptr
  acc.yield %a : !llvm.ptr
}
llvm.func @unknown(i32)

// Operation by operation: loads before stores. What all iterations read is read once. Elements count as two
// operations, so that with `most=6` the body is too long.
// CHECK-LABEL: llvm.func @stream
// CHECK:       acc.loop gang vector control(%i : i32)
// CHECK-NEXT:    accx.side_by_side {
// CHECK-NEXT:    ^bb0(%[[I:[a-z_0-9]+]]: i32, %[[J:[a-z_0-9]+]]: i32):
// CHECK-NEXT:      %[[S:.*]] = llvm.load %s : !llvm.ptr -> i32
// CHECK-NEXT:      %[[P:.*]] = accx.element %x[%[[I]]]
// CHECK-NEXT:      %[[Q:.*]] = accx.element %x[%[[J]]]
// CHECK-NEXT:      llvm.load %[[P]]
// CHECK-NEXT:      llvm.load %[[Q]]
// CHECK-NEXT:      arith.muli
// CHECK-NEXT:      arith.muli
// CHECK-NEXT:      llvm.store %{{.*}}, %[[P]]
// CHECK-NEXT:      llvm.store %{{.*}}, %[[Q]]
// CHECK-NEXT:    } else each {
// CHECK-NEXT:      llvm.load %s : !llvm.ptr -> i32
// CHECK-NEXT:      accx.element %x[%i]
// CHECK:           llvm.store
// CHECK-NEXT:    }
// CHECK-NEXT:    acc.yield
// CHECK-NEXT:  } attributes {{{.*}}accx.schedule = #accx.schedule<elements = 2>
// FEW-LABEL:   llvm.func @stream
// FEW-NOT:     side_by_side
// FEW:         llvm.return
llvm.func @stream(%n: i32, %x: !llvm.ptr, %s: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  acc.parallel {
    acc.loop gang vector control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      %f = llvm.load %s : !llvm.ptr -> i32
      %p = accx.element %x[%i] of i32 : i32
      %v = llvm.load %p : !llvm.ptr -> i32
      %w = arith.muli %v, %f : i32
      llvm.store %w, %p : i32, !llvm.ptr
      acc.yield
    } attributes {independent = [#acc.device_type<none>], accx.schedule = #accx.schedule<elements = 2>}
    acc.yield
  }
  llvm.return
}

// Each iteration has a private variable and a sum of its own, and both variables of a collapsed loop.
// CHECK-LABEL: llvm.func @copies
// CHECK:       %[[T:[a-z_0-9]+]] = acc.private
// CHECK-NEXT:  %[[U:[a-z_0-9]+]] = acc.private
// CHECK:       %[[R:[a-z_0-9]+]] = acc.reduction
// CHECK-NEXT:  %[[Q:[a-z_0-9]+]] = acc.reduction
// CHECK:       acc.loop vector private(%[[T]], %[[U]] : !llvm.ptr, !llvm.ptr) reduction(%[[R]], %[[Q]] : !llvm.ptr, !llvm.ptr)
// CHECK:         ^bb0(%[[I:[a-z_0-9]+]]: i32, %[[J:[a-z_0-9]+]]: i32, %[[K:[a-z_0-9]+]]: i32, %[[L:[a-z_0-9]+]]: i32):
// CHECK-NEXT:      llvm.store %[[I]], %[[T]]
// CHECK-NEXT:      llvm.store %[[K]], %[[U]]
// CHECK-NEXT:      llvm.store %[[J]], %[[R]]
// CHECK-NEXT:      llvm.store %[[L]], %[[Q]]
// CHECK-NEXT:    } else each {
// CHECK-NEXT:      llvm.store %{{.*}}, %[[T]]
// CHECK-NEXT:      llvm.store %{{.*}}, %[[R]]
// CHECK-NEXT:    }
llvm.func @copies(%n: i32, %t: !llvm.ptr, %r: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  acc.parallel {
    %own = acc.private varPtr(%t : !llvm.ptr) varType(i32) recipe(@private_i32) -> !llvm.ptr
    %sum = acc.reduction varPtr(%r : !llvm.ptr) varType(i32) recipe(@reduction_add_i32) -> !llvm.ptr
    acc.loop vector private(%own : !llvm.ptr) reduction(%sum : !llvm.ptr) control(%i : i32, %j : i32) = (%c0, %c0 : i32, i32) to (%n, %n : i32, i32) step (%c1, %c1 : i32, i32) {
      llvm.store %i, %own : i32, !llvm.ptr
      llvm.store %j, %sum : i32, !llvm.ptr
      acc.yield
    } attributes {independent = [#acc.device_type<none>], accx.schedule = #accx.schedule<elements = 2>}
    acc.yield
  }
  llvm.return
}

// A variable of the body is there for each iteration.
// CHECK-LABEL: llvm.func @variable
// CHECK:         ^bb0
// CHECK-NEXT:      %[[T:[a-z_0-9]+]] = llvm.alloca
// CHECK-NEXT:      %[[U:[a-z_0-9]+]] = llvm.alloca
// CHECK-NEXT:      llvm.store %{{.*}}, %[[T]]
// CHECK-NEXT:      llvm.store %{{.*}}, %[[U]]
llvm.func @variable(%n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  acc.parallel {
    acc.loop vector control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      %t = llvm.alloca %c1 x i32 : (i32) -> !llvm.ptr
      llvm.store %i, %t : i32, !llvm.ptr
      acc.yield
    } attributes {independent = [#acc.device_type<none>], accx.schedule = #accx.schedule<elements = 2>}
    acc.yield
  }
  llvm.return
}

// One after the other: a variable that iterations of a thread share, a call with effects, control flow; one element.
// CHECK-LABEL: llvm.func @left_alone
// CHECK-NOT:   side_by_side
// CHECK:       llvm.return
llvm.func @left_alone(%n: i32, %x: !llvm.ptr, %c: i1) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  acc.parallel {
    %t = llvm.alloca %c1 x i32 : (i32) -> !llvm.ptr
    acc.loop vector control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      llvm.store %i, %t : i32, !llvm.ptr
      acc.yield
    } attributes {independent = [#acc.device_type<none>], accx.schedule = #accx.schedule<elements = 2>}
    acc.loop vector control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      llvm.call @unknown(%i) : (i32) -> ()
      acc.yield
    } attributes {independent = [#acc.device_type<none>], accx.schedule = #accx.schedule<elements = 2>}
    acc.loop vector control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      scf.if %c {
        llvm.store %i, %x : i32, !llvm.ptr
      }
      acc.yield
    } attributes {independent = [#acc.device_type<none>], accx.schedule = #accx.schedule<elements = 2>}
    acc.loop vector control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      %p = accx.element %x[%i] of i32 : i32
      llvm.store %i, %p : i32, !llvm.ptr
      acc.yield
    } attributes {independent = [#acc.device_type<none>]}
    acc.yield
  }
  llvm.return
}
