// RUN: accopt %s -p hoist-invariant-loops | filecheck %s

// The sum over %k is the same for all %j: once per row, if the row has elements; loads in flight
// together.
// CHECK-LABEL: llvm.func @rows
// CHECK:         acc.loop control(%i : i32)
// CHECK-NEXT:      %runs = arith.cmpi slt, %c0, %n : i32
// CHECK-NEXT:      %s = scf.if %runs -> (f32) {
// CHECK-NEXT:        %z = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:        %r = arith.muli %i, %n : i32
// CHECK-NEXT:        %{{.*}} = scf.for %k = %c0 to %c64 step %c1 iter_args(%sum = %z) -> (f32) : i32 {
// CHECK:             } {accx.unroll = 64 : i32}
// CHECK:           } else {
// CHECK-NEXT:        %cst = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:        scf.yield %cst : f32
// CHECK-NEXT:      }
// CHECK-NEXT:      acc.loop control(%j : i32)
// CHECK-NOT:         scf.for
// CHECK:             llvm.store %s, %q
// CHECK:           } attributes {accx.note = "a loop that is the same for all iterations is hoisted: it runs once before them"
llvm.func @rows(%n: i32, %x: !llvm.ptr, %y: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %a = acc.present varPtr(%x : !llvm.ptr) varType(f32) -> !llvm.ptr {name = "x"}
  %b = acc.present varPtr(%y : !llvm.ptr) varType(f32) -> !llvm.ptr {name = "y"}
  acc.parallel dataOperands(%a, %b : !llvm.ptr, !llvm.ptr) {
    acc.loop control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      acc.loop control(%j : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
        %z = arith.constant 0.0 : f32
        %r = arith.muli %i, %n : i32
        %s = scf.for %k = %c0 to %c64 step %c1 iter_args(%sum = %z) -> (f32) : i32 {
          %rk = arith.addi %r, %k : i32
          %p = llvm.getelementptr %a[%rk] : (!llvm.ptr, i32) -> !llvm.ptr, f32
          %v = llvm.load %p : !llvm.ptr -> f32
          %t = arith.addf %sum, %v : f32
          scf.yield %t : f32
        }
        %rj = arith.addi %r, %j : i32
        %q = llvm.getelementptr %b[%rj] : (!llvm.ptr, i32) -> !llvm.ptr, f32
        llvm.store %s, %q : f32, !llvm.ptr
        acc.yield
      } attributes {independent = [#acc.device_type<none>]}
      acc.yield
    } attributes {independent = [#acc.device_type<none>]}
    acc.yield
  }
  acc.delete accPtr(%b : !llvm.ptr) {name = "y"}
  acc.delete accPtr(%a : !llvm.ptr) {name = "x"}
  llvm.return
}

// A loop that depends on %j, or comes after a store of the iteration, stays.
// CHECK-LABEL: llvm.func @varying
// CHECK-NOT:     scf.if
// CHECK:         acc.loop control(%j
// CHECK:           scf.for
// CHECK:           llvm.store
// CHECK:           scf.for
// CHECK-NOT:     accx.note
llvm.func @varying(%n: i32, %x: !llvm.ptr, %y: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = acc.present varPtr(%x : !llvm.ptr) varType(f32) -> !llvm.ptr {name = "x"}
  %b = acc.present varPtr(%y : !llvm.ptr) varType(f32) -> !llvm.ptr {name = "y"}
  acc.parallel dataOperands(%a, %b : !llvm.ptr, !llvm.ptr) {
    acc.loop control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      acc.loop control(%j : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
        %z = arith.constant 0.0 : f32
        %s = scf.for %k = %c0 to %n step %c1 iter_args(%sum = %z) -> (f32) : i32 {
          %jk = arith.addi %j, %k : i32
          %p = llvm.getelementptr %a[%jk] : (!llvm.ptr, i32) -> !llvm.ptr, f32
          %v = llvm.load %p : !llvm.ptr -> f32
          %t = arith.addf %sum, %v : f32
          scf.yield %t : f32
        }
        %q = llvm.getelementptr %b[%j] : (!llvm.ptr, i32) -> !llvm.ptr, f32
        llvm.store %s, %q : f32, !llvm.ptr
        %s2 = scf.for %k = %c0 to %n step %c1 iter_args(%sum = %z) -> (f32) : i32 {
          %p = llvm.getelementptr %a[%k] : (!llvm.ptr, i32) -> !llvm.ptr, f32
          %v = llvm.load %p : !llvm.ptr -> f32
          %t = arith.addf %sum, %v : f32
          scf.yield %t : f32
        }
        llvm.store %s2, %q : f32, !llvm.ptr
        acc.yield
      } attributes {independent = [#acc.device_type<none>]}
      acc.yield
    } attributes {independent = [#acc.device_type<none>]}
    acc.yield
  }
  acc.delete accPtr(%b : !llvm.ptr) {name = "y"}
  acc.delete accPtr(%a : !llvm.ptr) {name = "x"}
  llvm.return
}

// What a variable of the outer iteration holds may be written by the iterations: it stays.
// CHECK-LABEL: llvm.func @variable
// CHECK-NOT:     scf.if
// CHECK-NOT:     accx.note
llvm.func @variable(%n: i32, %y: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %b = acc.present varPtr(%y : !llvm.ptr) varType(f32) -> !llvm.ptr {name = "y"}
  acc.parallel dataOperands(%b : !llvm.ptr) {
    acc.loop control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      %local = llvm.alloca %c1 x f32 : (i32) -> !llvm.ptr
      acc.loop control(%j : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
        %z = arith.constant 0.0 : f32
        %s = scf.for %k = %c0 to %n step %c1 iter_args(%sum = %z) -> (f32) : i32 {
          %v = llvm.load %local : !llvm.ptr -> f32
          %t = arith.addf %sum, %v : f32
          scf.yield %t : f32
        }
        %q = llvm.getelementptr %b[%j] : (!llvm.ptr, i32) -> !llvm.ptr, f32
        llvm.store %s, %q : f32, !llvm.ptr
        acc.yield
      } attributes {independent = [#acc.device_type<none>]}
      acc.yield
    } attributes {independent = [#acc.device_type<none>]}
    acc.yield
  }
  acc.delete accPtr(%b : !llvm.ptr) {name = "y"}
  llvm.return
}

// A short loop is not worth the change of shape; the note says why it stays.
// CHECK-LABEL: llvm.func @short
// CHECK-NOT:     scf.if
// CHECK:         accx.note = "a loop that is the same for all iterations is not hoisted: only 3 iterations"
llvm.func @short(%n: i32, %x: !llvm.ptr, %y: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %a = acc.present varPtr(%x : !llvm.ptr) varType(f32) -> !llvm.ptr {name = "x"}
  %b = acc.present varPtr(%y : !llvm.ptr) varType(f32) -> !llvm.ptr {name = "y"}
  acc.parallel dataOperands(%a, %b : !llvm.ptr, !llvm.ptr) {
    acc.loop control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      acc.loop control(%j : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
        %z = arith.constant 0.0 : f32
        %s = scf.for %k = %c0 to %c3 step %c1 iter_args(%sum = %z) -> (f32) : i32 {
          %p = llvm.getelementptr %a[%k] : (!llvm.ptr, i32) -> !llvm.ptr, f32
          %v = llvm.load %p : !llvm.ptr -> f32
          %t = arith.addf %sum, %v : f32
          scf.yield %t : f32
        }
        %q = llvm.getelementptr %b[%j] : (!llvm.ptr, i32) -> !llvm.ptr, f32
        llvm.store %s, %q : f32, !llvm.ptr
        acc.yield
      } attributes {independent = [#acc.device_type<none>]}
      acc.yield
    } attributes {independent = [#acc.device_type<none>]}
    acc.yield
  }
  acc.delete accPtr(%b : !llvm.ptr) {name = "y"}
  acc.delete accPtr(%a : !llvm.ptr) {name = "x"}
  llvm.return
}
