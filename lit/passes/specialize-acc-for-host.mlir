// RUN: accopt %s -p specialize-acc-for-host | filecheck %s

// The recipes and routines go.
// CHECK-NOT: acc.

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
acc.routine @r func(@rows) gang

// A loop runs in order with a stack slot for its private variable, which is outside the loop; a
// reduction works on the variable itself.
// CHECK-LABEL: llvm.func @rows
// CHECK:         %t = llvm.alloca
// CHECK:         scf.for %i = %{{.*}} to %n step %{{.*}} : i32 {
// CHECK-NEXT:      llvm.store %i, %t : i32, !llvm.ptr
// CHECK-NEXT:      %[[V:.*]] = llvm.load %s : !llvm.ptr -> i32
// CHECK:           llvm.store %{{.*}}, %s : i32, !llvm.ptr
// CHECK-NEXT:    }
// CHECK-NEXT:    llvm.return
llvm.func @rows(%n: i32, %s: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %p = acc.private varPtr(%s : !llvm.ptr) varType(i32) recipe(@private_i32) -> !llvm.ptr {name = "t"}
  %r = acc.reduction varPtr(%s : !llvm.ptr) varType(i32) recipe(@reduction_add_i32) -> !llvm.ptr {name = "s"}
  acc.loop gang private(%p : !llvm.ptr) reduction(%r : !llvm.ptr) control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
    llvm.store %i, %p : i32, !llvm.ptr
    %v = llvm.load %r : !llvm.ptr -> i32
    %w = arith.addi %v, %i : i32
    llvm.store %w, %r : i32, !llvm.ptr
    acc.yield
  } attributes {independent = [#acc.device_type<none>], inclusiveUpperbound = array<i1: false>}
  llvm.return
}

// A body of several blocks stays a region; collapsed loops become a nest.
// CHECK-LABEL: llvm.func @blocks
// CHECK:         scf.for %i
// CHECK-NEXT:      scf.for %j
// CHECK-NEXT:        scf.execute_region
// CHECK:               cf.cond_br
llvm.func @blocks(%n: i32, %s: !llvm.ptr, %c: i1) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  acc.loop control(%i : i32, %j : i32) = (%c0, %c0 : i32, i32) to (%n, %n : i32, i32) step (%c1, %c1 : i32, i32) {
    cf.cond_br %c, ^bb1, ^bb2
  ^bb1:
    llvm.store %i, %s : i32, !llvm.ptr
    cf.br ^bb2
  ^bb2:
    acc.yield
  } attributes {independent = [#acc.device_type<none>], inclusiveUpperbound = array<i1: false, false>}
  llvm.return
}

// Of several iterations side by side single ones are left, and one private variable.
// CHECK-LABEL: llvm.func @coarse
// CHECK-COUNT-1: llvm.alloca
// CHECK-NOT:     llvm.alloca
// CHECK:         scf.for %[[I:[a-z_0-9]+]] =
// CHECK-NEXT:      llvm.store %[[I]], %{{.*}} : i32, !llvm.ptr
// CHECK-NEXT:    }
llvm.func @coarse(%n: i32, %t: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %own = acc.private varPtr(%t : !llvm.ptr) varType(i32) recipe(@private_coarse) -> !llvm.ptr
  %other = acc.private varPtr(%t : !llvm.ptr) varType(i32) recipe(@private_coarse) -> !llvm.ptr
  acc.loop vector private(%own, %other : !llvm.ptr, !llvm.ptr) control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
    accx.side_by_side {
    ^bb0(%a: i32, %b: i32):
      llvm.store %a, %own : i32, !llvm.ptr
      llvm.store %b, %other : i32, !llvm.ptr
    } else each {
      llvm.store %i, %own : i32, !llvm.ptr
    }
    acc.yield
  } attributes {independent = [#acc.device_type<none>], accx.schedule = #accx.schedule<elements = 2>}
  llvm.return
}
acc.private.recipe @private_coarse : !llvm.ptr init {
^bb0(%v: !llvm.ptr):
  %one = arith.constant 1 : i32
  %copy = llvm.alloca %one x i32 : (i32) -> !llvm.ptr
  acc.yield %copy : !llvm.ptr
}
