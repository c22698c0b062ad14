// RUN: accopt %s -p compute-inductions --split-input-file | filecheck %s

// A pointer that walks is a subscript by the loop's variable; the last value is there for who wants it.
// CHECK-LABEL: @walk
// CHECK:           %past = arith.maxsi %{{.*}}, %{{.*}} : i64
// CHECK-NEXT:      scf.for %i = %{{.*}} to %n step %{{.*}} : i32 {
// CHECK-NEXT:        %p_1 = accx.element %p[%i] of f64 : i32
// CHECK-NEXT:        %x = llvm.load %p_1
// CHECK-NOT:       scf.yield
// CHECK:           }
// CHECK-NEXT:      %last = accx.element %p[%past] of f64 : i64
// CHECK-NEXT:      llvm.store %{{.*}}, %last
llvm.func @walk(%p: !llvm.ptr, %n: i32, %y: f64) {
  acc.parallel {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %last = scf.for %i = %c0 to %n step %c1 iter_args(%p_1 = %p) -> (!llvm.ptr) : i32 {
      %x = llvm.load %p_1 : !llvm.ptr -> f64
      %next = llvm.getelementptr inbounds %p_1[1] : (!llvm.ptr) -> !llvm.ptr, f64
      scf.yield %next : !llvm.ptr
    }
    llvm.store %y, %last : f64, !llvm.ptr
    acc.yield
  }
  llvm.return
}
// -----
// A walk through a nest: rows lie one length apart, which nobody asks for where the inner loop does not run.
// CHECK-LABEL: @nest
// CHECK:           %[[M:.*]] = arith.extsi %m : i32 to i64
// CHECK:           scf.for %i = %{{.*}} to %n step %{{.*}} : i32 {
// CHECK:             %[[ROWS:.*]] = arith.muli %{{.*}}, %[[M]] overflow<nsw> : i64
// CHECK-NEXT:        %[[ROW:.*]] = accx.element %p[%[[ROWS]]] of f64 : i64
// CHECK-NEXT:        scf.for %j = %{{.*}} to %m step %{{.*}} : i32 {
// CHECK-NEXT:          %{{.*}} = accx.element %[[ROW]][%j] of f64 : i32
llvm.func @nest(%p: !llvm.ptr, %n: i32, %m: i32) {
  acc.parallel {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %all = scf.for %i = %c0 to %n step %c1 iter_args(%q = %p) -> (!llvm.ptr) : i32 {
      %row = scf.for %j = %c0 to %m step %c1 iter_args(%r = %q) -> (!llvm.ptr) : i32 {
        %x = llvm.load %r : !llvm.ptr -> f64
        %next = llvm.getelementptr inbounds %r[1] : (!llvm.ptr) -> !llvm.ptr, f64
        scf.yield %next : !llvm.ptr
      }
      scf.yield %row : !llvm.ptr
    }
    acc.yield
  }
  llvm.return
}
// -----
// Integers: no overflow is promised from a negative start, and of a subtraction the constant counts. An amount
// that is not a multiple of the step, or that changes, stays carried.
// CHECK-LABEL: @integers
// CHECK:           %{{.*}}, %{{.*}} = scf.for %i = %c0 to %n step %c2 iter_args(%c = %c0, %d = %c0) -> (i32, i32) : i32 {
// CHECK:             %[[B:.*]] = arith.muli %i, %cm3 : i32
// CHECK-NEXT:        %b = arith.addi %c2, %[[B]] : i32
// CHECK:             %[[A:.*]] = arith.muli %i, %{{.*}} overflow<nsw> : i32
// CHECK-NEXT:        llvm.store %[[A]], %p
// CHECK:             scf.yield %c_1, %d_1 : i32, i32
llvm.func @integers(%n: i32, %p: !llvm.ptr) {
  acc.parallel {
    %c0 = arith.constant 0 : i32
    %c2 = arith.constant 2 : i32
    %c3 = arith.constant 3 : i32
    %c4 = arith.constant 4 : i32
    %c6 = arith.constant 6 : i32
    %r:4 = scf.for %i = %c0 to %n step %c2 iter_args(%a = %c0, %b = %c2, %c = %c0, %d = %c0) -> (i32, i32, i32, i32) : i32 {
      llvm.store %a, %p : i32, !llvm.ptr
      llvm.store %b, %p : i32, !llvm.ptr
      %a_1 = arith.addi %a, %c4 overflow<nsw> : i32
      %b_1 = arith.subi %b, %c6 overflow<nsw> : i32
      %c_1 = arith.addi %c, %c3 overflow<nsw> : i32
      %d_1 = arith.addi %d, %i overflow<nsw> : i32
      scf.yield %a_1, %b_1, %c_1, %d_1 : i32, i32, i32, i32
    }
    acc.yield
  }
  llvm.return
}
// -----
// Host code is LLVM's.
// CHECK-LABEL: @host
// CHECK:         scf.for {{.*}} iter_args(
llvm.func @host(%p: !llvm.ptr, %n: i32) -> !llvm.ptr {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%q = %p) -> (!llvm.ptr) : i32 {
    %next = llvm.getelementptr inbounds %q[1] : (!llvm.ptr) -> !llvm.ptr, f64
    scf.yield %next : !llvm.ptr
  }
  llvm.return %last : !llvm.ptr
}

// -----
// %s is set before it is read, in both loops, which begin with its last value; what is read in an iteration, or after the loop, is carried.
// CHECK-LABEL: @unread
// CHECK:         %[[READ:.*]], %{{.*}} = scf.for %i = {{.*}} iter_args(%t = %zero, %r = %zero) -> (f64, f64)
// CHECK:         scf.for %i_1 = %c0 to %n step %c1 : i32 {
// CHECK-NEXT:      %last = scf.for %j = {{.*}} iter_args(%u = %zero) -> (f64)
// CHECK:         llvm.store %[[READ]], %p
llvm.func @unread(%p: !llvm.ptr, %n: i32) {
  acc.parallel {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant 0.0 : f64
    %first:3 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero, %t = %zero, %r = %zero) -> (f64, f64, f64) : i32 {
      %x = llvm.load %p : !llvm.ptr -> f64
      %sum = arith.addf %r, %x : f64
      scf.yield %x, %x, %sum : f64, f64, f64
    }
    %second = scf.for %i = %c0 to %n step %c1 iter_args(%s = %first#0) -> (f64) : i32 {
      %last = scf.for %j = %c0 to %n step %c1 iter_args(%u = %zero) -> (f64) : i32 {
        %y = arith.addf %u, %u : f64
        scf.yield %y : f64
      }
      scf.yield %last : f64
    }
    llvm.store %first#1, %p : f64, !llvm.ptr
    acc.yield
  }
  llvm.return
}
