// RUN: accopt %s -p lower-seq-loops | filecheck %s

// A seq loop of two variables inside of a parallel loop: two plain loops, outermost first.
// CHECK-LABEL: llvm.func @inner
// CHECK:       acc.loop gang
// CHECK:         scf.for %j = %c0 to %n step %c1 : i32 {
// CHECK-NEXT:      scf.for %k = %c1 to %n step %c1 : i32 {
// CHECK-NEXT:        "test.op"(%j, %k)
// CHECK-NEXT:      }
// CHECK-NEXT:    } {accx.why = "marked seq"}
// CHECK-NEXT:    acc.yield
llvm.func @inner(%n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  acc.parallel {
    acc.loop gang control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      acc.loop control(%j : i32, %k : i32) = (%c0, %c1 : i32, i32) to (%n, %n : i32, i32) step (%c1, %c1 : i32, i32) {
        "test.op"(%j, %k) : (i32, i32) -> ()
        acc.yield
      } attributes {seq = [#acc.device_type<none>]}
      acc.yield
    } attributes {independent = [#acc.device_type<none>]}
    acc.yield
  }
  llvm.return
}

// The outermost loop, one around a parallel loop, one with a variable of its own, and one that is seq for
// another device only stay.
// CHECK-LABEL: llvm.func @others
// CHECK-NOT:   scf.for
llvm.func @others(%n: i32, %x: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  acc.parallel {
    %x_1 = acc.private varPtr(%x : !llvm.ptr) varType(f32) recipe(@private_f32) -> !llvm.ptr {name = "x"}
    acc.loop control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      acc.loop control(%j : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
        acc.loop vector control(%k : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
          "test.op"(%k) : (i32) -> ()
          acc.yield
        } attributes {independent = [#acc.device_type<none>]}
        acc.yield
      } attributes {seq = [#acc.device_type<none>]}
      acc.loop private(%x_1 : !llvm.ptr) control(%j : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
        "test.op"(%j) : (i32) -> ()
        acc.yield
      } attributes {seq = [#acc.device_type<none>]}
      acc.loop control(%j : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
        "test.op"(%j) : (i32) -> ()
        acc.yield
      } attributes {independent = [#acc.device_type<none>], seq = [#acc.device_type<host>]}
      acc.yield
    } attributes {seq = [#acc.device_type<none>]}
    acc.yield
  }
  llvm.return
}

// Without levels and of eight iterations, inside of a loop that may have the lanes: one thread runs it. Of nine
// iterations, around another loop, with a level, or inside of a loop with a level of its own: as it was.
// CHECK-LABEL: llvm.func @short
// CHECK:       acc.loop control(%i
// CHECK-NEXT:    scf.for %j{{.*}} to %c8
// CHECK:         {accx.why = "it has too few iterations to give each one a thread"}
// CHECK-NEXT:    acc.loop control(%j
// CHECK:         acc.loop vector control(%j
// CHECK:       acc.loop gang control(%i
// CHECK-NEXT:    acc.loop control(%j
// CHECK-NOT:     scf.for
llvm.func @short(%n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c8 = arith.constant 8 : i32
  %c9 = arith.constant 9 : i32
  acc.parallel {
    acc.loop control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      acc.loop control(%j : i32) = (%c0 : i32) to (%c8 : i32) step (%c1 : i32) {
        "test.op"(%j) : (i32) -> ()
        acc.yield
      } attributes {independent = [#acc.device_type<none>]}
      acc.loop control(%j : i32) = (%c0 : i32) to (%c9 : i32) step (%c1 : i32) {
        "test.op"(%j) : (i32) -> ()
        acc.yield
      } attributes {independent = [#acc.device_type<none>]}
      acc.loop vector control(%j : i32) = (%c0 : i32) to (%c8 : i32) step (%c1 : i32) {
        "test.op"(%j) : (i32) -> ()
        acc.yield
      } attributes {independent = [#acc.device_type<none>]}
      acc.yield
    } attributes {independent = [#acc.device_type<none>]}
    acc.loop gang control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      acc.loop control(%j : i32) = (%c0 : i32) to (%c8 : i32) step (%c1 : i32) {
        "test.op"(%j) : (i32) -> ()
        acc.yield
      } attributes {independent = [#acc.device_type<none>]}
      acc.yield
    } attributes {independent = [#acc.device_type<none>]}
    acc.yield
  }
  llvm.return
}

// An iteration declares arrays: one of a length that the host computes, of which lanes may share the loop; one of
// a length that is loaded, whose loops are one thread's, except the one with a level, whose error comes later.
// CHECK-LABEL: llvm.func @arrays
// CHECK:       acc.loop control(%i
// CHECK:         acc.loop control(%j
// CHECK:       acc.loop control(%i
// CHECK:         scf.for %j
// CHECK:         {accx.why = "threads would share an array of a length unknown at launch"}
// CHECK:         acc.loop vector control(%j
// CHECK-NOT:     scf.for
// CHECK:       acc.private.recipe
llvm.func @arrays(%n: i32, %p: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  acc.parallel {
    acc.loop control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      %half = arith.divsi %n, %c2 : i32
      %v = llvm.alloca %half x i32 : (i32) -> !llvm.ptr
      acc.loop control(%j : i32) = (%c0 : i32) to (%half : i32) step (%c1 : i32) {
        "test.op"(%j, %v) : (i32, !llvm.ptr) -> ()
        acc.yield
      } attributes {independent = [#acc.device_type<none>]}
      acc.yield
    } attributes {independent = [#acc.device_type<none>]}
    acc.loop control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      %m = llvm.load %p : !llvm.ptr -> i32
      %v = llvm.alloca %m x i32 : (i32) -> !llvm.ptr
      acc.loop control(%j : i32) = (%c0 : i32) to (%m : i32) step (%c1 : i32) {
        "test.op"(%j, %v) : (i32, !llvm.ptr) -> ()
        acc.yield
      } attributes {independent = [#acc.device_type<none>]}
      acc.loop vector control(%j : i32) = (%c0 : i32) to (%m : i32) step (%c1 : i32) {
        "test.op"(%j, %v) : (i32, !llvm.ptr) -> ()
        acc.yield
      } attributes {independent = [#acc.device_type<none>]}
      acc.yield
    } attributes {independent = [#acc.device_type<none>]}
    acc.yield
  }
  llvm.return
}

acc.private.recipe @private_f32 : !llvm.ptr init {
^bb0(%arg: !llvm.ptr):
  %one = arith.constant 1 : i32
  %copy = llvm.alloca %one x f32 : (i32) -> !llvm.ptr
  acc.yield %copy : !llvm.ptr
}
