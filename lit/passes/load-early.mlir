// RUN: accopt %s -p load-early | filecheck %s
// RUN: accopt %s -p "load-early{target=host}" | filecheck %s --check-prefix HOST

// A step of a recurrence along lines: elements of other planes and of the next step are loaded before what is stored, also where
// the length of a plane is known at run time; what has been stored or loaded is not loaded again.
// CHECK-LABEL: llvm.func @step
// CHECK:         scf.for
// CHECK:           %x = llvm.load
// CHECK-NEXT:      %s = arith.mulf %x, %f
// CHECK:           %y = llvm.load
// CHECK:           %w = llvm.load
// CHECK:           llvm.store %s,
// CHECK-NOT:       llvm.load
// CHECK:           %t = arith.mulf %y, %s
// CHECK-NEXT:      llvm.store %t,
// CHECK-NEXT:      %u = arith.addf %w, %x
// CHECK-NEXT:      llvm.store %u,
// HOST-LABEL: llvm.func @step
// HOST:         llvm.store %s,
// HOST:         %y = llvm.load
llvm.func @step(%n: i32, %m: i64, %f: f64, %a: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  acc.parallel {
    acc.loop vector control(%j : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      scf.for %i = %c0 to %n step %c1 : i32 {
        %p = accx.element %a[2, %i, %j] rows(%m) of !llvm.array<64 x f64> : i32, i32
        %x = llvm.load %p : !llvm.ptr -> f64
        %s = arith.mulf %x, %f : f64
        llvm.store %s, %p : f64, !llvm.ptr
        %q = accx.element %a[3, %i, %j] rows(%m) of !llvm.array<64 x f64> : i32, i32
        %y = llvm.load %q : !llvm.ptr -> f64
        %p2 = accx.element %a[2, %i, %j] rows(%m) of !llvm.array<64 x f64> : i32, i32
        %again = llvm.load %p2 : !llvm.ptr -> f64
        %t = arith.mulf %y, %again : f64
        llvm.store %t, %q : f64, !llvm.ptr
        %next = arith.addi %i, %c1 overflow<nsw> : i32
        %r = accx.element %a[3, %next, %j] rows(%m) of !llvm.array<64 x f64> : i32, i32
        %w = llvm.load %r : !llvm.ptr -> f64
        %u = arith.addf %w, %x : f64
        llvm.store %u, %r : f64, !llvm.ptr
      }
      acc.yield
    } attributes {independent = [#acc.device_type<none>], vector = [#acc.device_type<none>]}
    acc.yield
  }
  llvm.return
}

// What a store may change stays behind it: an element at another subscript, another pointer, a part of the same bytes.
// CHECK-LABEL: llvm.func @unknown
// CHECK:         llvm.store %f{{.*}},
// CHECK:         %other = llvm.load
// CHECK:         %through = llvm.load
// CHECK:         %part = llvm.load
llvm.func @unknown(%n: i32, %k: i32, %f: f64, %a: !llvm.ptr, %b: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  acc.parallel {
    acc.loop vector control(%j : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      scf.for %i = %c0 to %n step %c1 : i32 {
        %p = accx.element %a[%i] of f64 : i32
        llvm.store %f, %p : f64, !llvm.ptr
        %q = accx.element %a[%k] of f64 : i32
        %other = llvm.load %q : !llvm.ptr -> f64
        %r = accx.element %b[%i] of f64 : i32
        %through = llvm.load %r : !llvm.ptr -> f64
        %part = llvm.load %p : !llvm.ptr -> i32
        %sum = arith.addf %other, %through : f64
        llvm.store %sum, %p : f64, !llvm.ptr
        llvm.store %part, %r : i32, !llvm.ptr
      }
      acc.yield
    } attributes {independent = [#acc.device_type<none>], vector = [#acc.device_type<none>]}
    acc.yield
  }
  llvm.return
}

// Nothing moves past volatile accesses, atomic updates or other effects, nor what is computed from a value that stays.
// CHECK-LABEL: llvm.func @effects
// CHECK:         llvm.store %f{{.*}},
// CHECK-NEXT:    %seen = llvm.load
// CHECK:         %after = llvm.load
// CHECK:         llvm.store
// CHECK:         %at = llvm.load
// CHECK:         %found = llvm.load
llvm.func @effects(%n: i32, %f: f64, %a: !llvm.ptr {llvm.noalias}, %b: !llvm.ptr {llvm.noalias}, %c: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  acc.parallel {
    acc.loop vector control(%j : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      scf.for %i = %c0 to %n step %c1 : i32 {
        %p = accx.element %a[0, %i] of !llvm.array<64 x f64> : i32
        %q = accx.element %a[1, %i] of !llvm.array<64 x f64> : i32
        llvm.store %f, %p : f64, !llvm.ptr
        %seen = llvm.load %b {accx.volatile} : !llvm.ptr -> i32
        %after = llvm.load %q : !llvm.ptr -> f64
        %e = accx.element %c[%i] of i32 : i32
        llvm.store %seen, %e : i32, !llvm.ptr
        %g = accx.element %c[%seen] of i32 : i32
        %at = llvm.load %g : !llvm.ptr -> i32
        %h = accx.element %a[2, %at] of !llvm.array<64 x f64> : i32
        %found = llvm.load %h : !llvm.ptr -> f64
        %sum = arith.addf %after, %found : f64
        llvm.store %sum, %p : f64, !llvm.ptr
      }
      acc.yield
    } attributes {independent = [#acc.device_type<none>], vector = [#acc.device_type<none>]}
    acc.yield
  }
  llvm.return
}
