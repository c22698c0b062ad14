// RUN: accopt %s -p unroll-inner-loops | filecheck %s
// RUN: accopt %s -p "unroll-inner-loops{factor=2}" | filecheck %s --check-prefix=TWO
// RUN: accopt %s -p "unroll-inner-loops{target=host}" | filecheck %s --check-prefix=HOST

// The inner of two loops with one load: eight iterations. The outer loop is left alone.
// CHECK-LABEL: llvm.func @sum
// CHECK:         scf.yield %t : f32
// CHECK-NEXT:    } {accx.unroll = 8 : i32}
// CHECK-NEXT:    scf.yield
// CHECK-NEXT:  }
// CHECK-NEXT:  llvm.store
// TWO:         accx.unroll = 2 : i32
// HOST-NOT:    accx.unroll = {{[248]}}
llvm.func @sum(%n: i32, %a: !llvm.ptr, %b: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %z = arith.constant 0.0 : f32
  acc.parallel {
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%u = %z) -> (f32) : i32 {
      %w = scf.for %j = %c0 to %n step %c1 iter_args(%s = %u) -> (f32) : i32 {
        %p = accx.element %a[%j] of f32 : i32
        %v = llvm.load %p : !llvm.ptr -> f32
        %t = arith.addf %s, %v : f32
        scf.yield %t : f32
      }
      scf.yield %w : f32
    }
    llvm.store %r, %b : f32, !llvm.ptr
    acc.yield
  }
  llvm.return
}

// LLVM unrolls four iterations altogether; a given factor stays; an unknown function and host code do not
// unroll.
// CHECK-LABEL: llvm.func @left_alone
// CHECK-NOT:   accx.unroll = 8
// CHECK:       accx.unroll = 3
// CHECK-NOT:   accx.unroll
// CHECK:       llvm.return
llvm.func @left_alone(%n: i32, %a: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  acc.parallel {
    scf.for %j = %c0 to %c4 step %c1 : i32 {
      %p = accx.element %a[%j] of i32 : i32
      llvm.store %j, %p : i32, !llvm.ptr
    }
    scf.for %j = %c0 to %n step %c1 : i32 {
      %p = accx.element %a[%j] of i32 : i32
      llvm.store %j, %p : i32, !llvm.ptr
    } {accx.unroll = 3 : i32}
    scf.for %j = %c0 to %n step %c1 : i32 {
      llvm.call @unknown(%j) : (i32) -> ()
    }
    acc.yield
  }
  scf.for %j = %c0 to %n step %c1 : i32 {
    %p = accx.element %a[%j] of i32 : i32
    llvm.store %j, %p : i32, !llvm.ptr
  }
  llvm.return
}

llvm.func @unknown(i32)

// A loop over an array of the iteration's own is unrolled completely, so that the array becomes registers.
// CHECK-LABEL: llvm.func @own_array
// CHECK:         accx.unroll = 0 : i32
// An array of the gang's lies in shared memory.
// CHECK:         accx.unroll = 8 : i32
llvm.func @own_array(%n: i32, %a: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c30 = arith.constant 30 : i32
  acc.parallel {
    %shared = llvm.alloca %c1 x !llvm.array<30 x i32> : (i32) -> !llvm.ptr
    acc.loop control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      %own = llvm.alloca %c1 x !llvm.array<30 x i32> : (i32) -> !llvm.ptr
      scf.for %j = %c0 to %c30 step %c1 : i32 {
        %p = accx.element %own[%j] of i32 : i32
        %v = llvm.load %p : !llvm.ptr -> i32
        %v1 = arith.muli %v, %v : i32
        %v2 = arith.muli %v1, %v : i32
        %v3 = arith.muli %v2, %v : i32
        %v4 = arith.muli %v3, %v : i32
        %v5 = arith.muli %v4, %v : i32
        %v6 = arith.muli %v5, %v : i32
        %v7 = arith.muli %v6, %v : i32
        llvm.store %v7, %p : i32, !llvm.ptr
      }
      scf.for %j = %c0 to %c30 step %c1 : i32 {
        %p = accx.element %shared[%j] of i32 : i32
        %v = llvm.load %p : !llvm.ptr -> i32
        %v1 = arith.muli %v, %v : i32
        %v2 = arith.muli %v1, %v : i32
        %v3 = arith.muli %v2, %v : i32
        %v4 = arith.muli %v3, %v : i32
        %v5 = arith.muli %v4, %v : i32
        %v6 = arith.muli %v5, %v : i32
        %v7 = arith.muli %v6, %v : i32
        llvm.store %v7, %p : i32, !llvm.ptr
      }
      acc.yield
    } attributes {independent = [#acc.device_type<none>]}
    acc.yield
  }
  llvm.return
}

// A triangle over an array of the iteration's own: the loop inside has the variable of the outer one as its
// bound, so that both are unrolled. The loop that only repeats them is not.
// CHECK-LABEL: llvm.func @triangle
// CHECK:         scf.for %t
// CHECK:           scf.for %j
// CHECK:             scf.for %k
// CHECK:             } {accx.unroll = 0 : i32}
// CHECK-NEXT:      } {accx.unroll = 0 : i32}
// CHECK-NEXT:    }
llvm.func @triangle(%n: i32, %m: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c8 = arith.constant 8 : i32
  acc.parallel {
    acc.loop control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      %own = llvm.alloca %c1 x !llvm.array<8 x !llvm.array<8 x f64>> : (i32) -> !llvm.ptr
      scf.for %t = %c0 to %m step %c1 : i32 {
        scf.for %j = %c0 to %c8 step %c1 : i32 {
          scf.for %k = %c0 to %j step %c1 : i32 {
            %p = accx.element %own[%j, %k] of !llvm.array<8 x f64> : i32, i32
            %v = llvm.load %p : !llvm.ptr -> f64
            %w = arith.mulf %v, %v : f64
            llvm.store %w, %p : f64, !llvm.ptr
          }
        }
      }
      acc.yield
    } attributes {independent = [#acc.device_type<none>]}
    acc.yield
  }
  llvm.return
}

// A copy by a clause of the loop is the iteration's own; one of the construct's is each gang's.
acc.private.recipe @private_i32_40 : !llvm.ptr init {
^bb0(%variable: !llvm.ptr):
  %one = arith.constant 1 : i32
  %copy = llvm.alloca %one x !llvm.array<40 x i32> : (i32) -> !llvm.ptr
  acc.yield %copy : !llvm.ptr
}

// CHECK-LABEL: llvm.func @private_clause
// CHECK:         scf.for %j
// CHECK:         } {accx.unroll = 0 : i32}
// CHECK-NOT:     accx.unroll = 0
// CHECK:       llvm.return
llvm.func @private_clause(%n: i32, %a: !llvm.ptr, %b: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c40 = arith.constant 40 : i32
  %gangs = acc.private varPtr(%a : !llvm.ptr) varType(!llvm.array<40 x i32>) recipe(@private_i32_40) -> !llvm.ptr {name = "a"}
  acc.parallel private(%gangs : !llvm.ptr) {
    %own = acc.private varPtr(%b : !llvm.ptr) varType(!llvm.array<40 x i32>) recipe(@private_i32_40) -> !llvm.ptr {name = "b"}
    acc.loop private(%own : !llvm.ptr) control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      scf.for %j = %c0 to %c40 step %c1 : i32 {
        %p = accx.element %own[%j] of i32 : i32
        llvm.store %j, %p : i32, !llvm.ptr
      }
      scf.for %k = %c0 to %c40 step %c1 : i32 {
        %p = accx.element %gangs[%k] of i32 : i32
        llvm.store %k, %p : i32, !llvm.ptr
      }
      acc.yield
    } attributes {independent = [#acc.device_type<none>]}
    acc.yield
  }
  llvm.return
}

// Arrays that would stay in memory: a subscript that is read from memory, a bound that is not known, more
// words than fit, an address that is passed on, and lanes inside the iteration.
// CHECK-LABEL: llvm.func @in_memory
// CHECK-NOT:     accx.unroll = 0
// CHECK:       llvm.return
llvm.func @in_memory(%n: i32, %m: i32, %a: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c8 = arith.constant 8 : i32
  acc.parallel {
    acc.loop control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      %gather = llvm.alloca %c1 x !llvm.array<8 x i32> : (i32) -> !llvm.ptr
      %partly = llvm.alloca %c1 x !llvm.array<8 x i32> : (i32) -> !llvm.ptr
      %large = llvm.alloca %c1 x !llvm.array<200 x i32> : (i32) -> !llvm.ptr
      %passed = llvm.alloca %c1 x !llvm.array<8 x i32> : (i32) -> !llvm.ptr
      scf.for %j = %c0 to %c8 step %c1 : i32 {
        %q = accx.element %a[%j] of i32 : i32
        %x = llvm.load %q : !llvm.ptr -> i32
        %p = accx.element %gather[%x] of i32 : i32
        llvm.store %j, %p : i32, !llvm.ptr
      }
      scf.for %j = %c0 to %m step %c1 : i32 {
        %p = accx.element %partly[%j] of i32 : i32
        llvm.store %j, %p : i32, !llvm.ptr
      }
      scf.for %j = %c0 to %c8 step %c1 : i32 {
        %p = accx.element %large[%j] of i32 : i32
        llvm.store %j, %p : i32, !llvm.ptr
      }
      scf.for %j = %c0 to %c8 step %c1 : i32 {
        %p = accx.element %passed[%j] of i32 : i32
        llvm.store %j, %p : i32, !llvm.ptr
      }
      llvm.call @reads(%passed) : (!llvm.ptr) -> ()
      acc.yield
    } attributes {independent = [#acc.device_type<none>]}
    acc.loop control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      %rows = llvm.alloca %c1 x !llvm.array<8 x i32> : (i32) -> !llvm.ptr
      scf.for %j = %c0 to %c8 step %c1 : i32 {
        %p = accx.element %rows[%j] of i32 : i32
        llvm.store %j, %p : i32, !llvm.ptr
      }
      acc.loop control(%l : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
        acc.yield
      } attributes {independent = [#acc.device_type<none>]}
      acc.yield
    } attributes {independent = [#acc.device_type<none>]}
    acc.yield
  }
  llvm.return
}

llvm.func @reads(!llvm.ptr)
