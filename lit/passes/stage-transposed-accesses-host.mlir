// RUN: accopt %s -p 'stage-transposed-accesses{target=host}' | filecheck %s

// b[i][j] = a[j][i]: groups of 32 rows of floats, in each pieces of 128 columns. A piece of a is loaded along its rows into a
// local array whose rows are 128 elements and a cache line apart, and read from there. The version runs where columns have 1024
// elements, or 256 whose distance is a multiple of 1024 bytes.
// CHECK-LABEL: llvm.func @transpose
// CHECK:         %[[FIRST:.*]] = llvm.ptrtoint
// CHECK:         %[[NEXT:.*]] = llvm.ptrtoint
// CHECK:         %[[APART:.*]] = arith.subi %[[NEXT]], %[[FIRST]]
// CHECK:         arith.andi %[[APART]], %c1023
// CHECK:         %[[LEAST:.*]] = arith.select %crowded, %c256{{.*}}, %c1024
// CHECK:         %tiled = arith.cmpi sge, %{{.*}}, %[[LEAST]]
// CHECK:         scf.if %tiled {
// CHECK:           acc.loop gang worker control(%group : i32) = (%c0{{.*}} : i32) to (%groups : i32)
// CHECK:             %tile = llvm.alloca %{{.*}} x !llvm.array<4608 x f32> {alignment = 64
// CHECK:             scf.for %piece = %{{.*}} to %{{.*}} step %c128
// CHECK:               scf.for %lane
// CHECK:                 scf.for %row
// CHECK:                   %[[A:.*]] = accx.element %a
// CHECK:                   %v = llvm.load %[[A]]
// CHECK:                   arith.muli %row{{.*}}, %c144
// CHECK:                   llvm.store %v, %element
// CHECK:               scf.for %row
// CHECK:                 acc.loop vector control(%lane{{.*}} : i32)
// CHECK:                   %[[B:.*]] = accx.element %b
// CHECK:                   %[[V:.*]] = llvm.load %element
// CHECK:                   llvm.store %[[V]], %[[B]]
// CHECK:         } else {
// CHECK:           acc.loop gang worker control
// CHECK:             acc.loop vector control
// CHECK:           accx.why = "long columns of at are read through tiles on the stack"
llvm.func @transpose(%n: i32, %a: !llvm.ptr, %b: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c100 = arith.constant 100 : i32
  acc.parallel num_gangs({%c100 : i32}) {
    acc.loop gang worker control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      acc.loop vector control(%j : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
        %r = arith.muli %i, %n : i32
        %o = arith.addi %r, %j : i32
        %bt = accx.element %b[%o] of f32 : i32
        %s = arith.muli %j, %n : i32
        %p = arith.addi %s, %i : i32
        %at = accx.element %a[%p] of f32 : i32
        %v = llvm.load %at : !llvm.ptr -> f32
        llvm.store %v, %bt : f32, !llvm.ptr
        acc.yield
      } attributes {independent = [#acc.device_type<none>]}
      acc.yield
    } attributes {independent = [#acc.device_type<none>]}
    acc.yield
  } attributes {accx.given_sizes = ["num_gangs"]}
  llvm.return
}

// b[j][i] = a[i][j] from row 2 on, every second one, under a condition on what is staged: the groups are over j, from its lower
// bound, and the store stays under the condition.
// CHECK-LABEL: llvm.func @outward
// CHECK:         scf.if %tiled{{.*}} {
// CHECK:           acc.loop gang control(%group{{.*}} : i64) = (%c0{{.*}} : i64) to (%groups{{.*}} : i64)
// CHECK:             %tile{{.*}} = llvm.alloca %{{.*}} x !llvm.array<2176 x f64>
// CHECK:             scf.for %lane
// CHECK:               scf.for %row
// CHECK:                 arith.muli %{{.*}}, %c2
// CHECK:                 arith.addi %c2{{.*}}, %
// CHECK:             acc.loop vector
// CHECK:               %[[V:.*]] = llvm.load %element
// CHECK:               %[[C:.*]] = arith.cmpf ogt, %[[V]],
// CHECK:               scf.if %[[C]] {
// CHECK:                 llvm.store %[[V]]
llvm.func @outward(%n: i64, %a: !llvm.ptr, %b: !llvm.ptr, %least: f64) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c2 = arith.constant 2 : i64
  acc.parallel {
    acc.loop gang control(%i : i64) = (%c2 : i64) to (%n : i64) step (%c2 : i64) {
      acc.loop vector control(%j : i64) = (%c0 : i64) to (%n : i64) step (%c1 : i64) {
        %r = arith.muli %i, %n : i64
        %o = arith.addi %r, %j : i64
        %at = accx.element %a[%o] of f64 : i64
        %s = arith.muli %j, %n : i64
        %p = arith.addi %s, %i : i64
        %bt = accx.element %b[%p] of f64 : i64
        %v = llvm.load %at : !llvm.ptr -> f64
        %c = arith.cmpf ogt, %v, %least : f64
        scf.if %c {
          llvm.store %v, %bt : f64, !llvm.ptr
        }
        acc.yield
      } attributes {independent = [#acc.device_type<none>]}
      acc.yield
    } attributes {independent = [#acc.device_type<none>]}
    acc.yield
  }
  llvm.return
}

// b[i][j][k] = a[k][j][i]: groups of i around j, as a is contiguous in i.
// CHECK-LABEL: llvm.func @cube
// CHECK:         scf.if %tiled{{.*}} {
// CHECK:           acc.loop gang control(%group{{.*}} : i32)
// CHECK:             %tile{{.*}} = llvm.alloca
// CHECK:             acc.loop control(%j{{.*}} : i32)
// CHECK:               scf.for %piece
// CHECK:                 scf.for %lane
// CHECK:                   scf.for %row
// CHECK:                 acc.loop vector control(%lane
llvm.func @cube(%n: i32, %nn: i32, %a: !llvm.ptr, %b: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  acc.parallel {
    acc.loop gang control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      acc.loop control(%j : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
        acc.loop vector control(%k : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
          %r = arith.muli %i, %nn : i32
          %m = arith.muli %j, %n : i32
          %o1 = arith.addi %r, %m : i32
          %o = arith.addi %o1, %k : i32
          %bt = accx.element %b[%o] of f32 : i32
          %s = arith.muli %k, %nn : i32
          %p1 = arith.addi %s, %m : i32
          %p = arith.addi %p1, %i : i32
          %at = accx.element %a[%p] of f32 : i32
          %v = llvm.load %at : !llvm.ptr -> f32
          llvm.store %v, %bt : f32, !llvm.ptr
          acc.yield
        } attributes {independent = [#acc.device_type<none>]}
        acc.yield
      } attributes {independent = [#acc.device_type<none>]}
      acc.yield
    } attributes {independent = [#acc.device_type<none>]}
    acc.yield
  }
  llvm.return
}

// As it was: rows of ten; a load after a store, and one under a condition; counters of two types; a stencil, whose accesses all go
// along rows.
// CHECK-LABEL: llvm.func @declined
// CHECK-NOT:     llvm.alloca
llvm.func @declined(%n: i32, %m: i64, %a: !llvm.ptr, %b: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c10 = arith.constant 10 : i32
  %l0 = arith.constant 0 : i64
  %l1 = arith.constant 1 : i64
  acc.parallel {
    acc.loop gang control(%i : i32) = (%c0 : i32) to (%c10 : i32) step (%c1 : i32) {
      acc.loop vector control(%j : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
        %r = arith.muli %i, %n : i32
        %o = arith.addi %r, %j : i32
        %bt = accx.element %b[%o] of f32 : i32
        %s = arith.muli %j, %c10 : i32
        %p = arith.addi %s, %i : i32
        %at = accx.element %a[%p] of f32 : i32
        %v = llvm.load %at : !llvm.ptr -> f32
        llvm.store %v, %bt : f32, !llvm.ptr
        acc.yield
      } attributes {independent = [#acc.device_type<none>]}
      acc.yield
    } attributes {independent = [#acc.device_type<none>]}
    acc.yield
  }
  acc.parallel {
    acc.loop gang control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      acc.loop vector control(%j : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
        %z = arith.constant 0.0 : f32
        %r = arith.muli %i, %n : i32
        %o = arith.addi %r, %j : i32
        %bt = accx.element %b[%o] of f32 : i32
        %s = arith.muli %j, %n : i32
        %p = arith.addi %s, %i : i32
        %at = accx.element %a[%p] of f32 : i32
        %old = llvm.load %bt : !llvm.ptr -> f32
        %c = arith.cmpf ogt, %old, %z : f32
        scf.if %c {
          llvm.store %z, %bt : f32, !llvm.ptr
        }
        %v = llvm.load %at : !llvm.ptr -> f32
        llvm.store %v, %bt : f32, !llvm.ptr
        acc.yield
      } attributes {independent = [#acc.device_type<none>]}
      acc.yield
    } attributes {independent = [#acc.device_type<none>]}
    acc.yield
  }
  acc.parallel {
    acc.loop gang control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      acc.loop vector control(%j : i64) = (%l0 : i64) to (%m : i64) step (%l1 : i64) {
        %i_1 = arith.extsi %i : i32 to i64
        %r = arith.muli %i_1, %m : i64
        %o = arith.addi %r, %j : i64
        %bt = accx.element %b[%o] of f32 : i64
        %s = arith.muli %j, %m : i64
        %p = arith.addi %s, %i_1 : i64
        %at = accx.element %a[%p] of f32 : i64
        %v = llvm.load %at : !llvm.ptr -> f32
        llvm.store %v, %bt : f32, !llvm.ptr
        acc.yield
      } attributes {independent = [#acc.device_type<none>]}
      acc.yield
    } attributes {independent = [#acc.device_type<none>]}
    acc.yield
  }
  acc.parallel {
    acc.loop gang control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      acc.loop vector control(%j : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
        %r = arith.muli %i, %n : i32
        %o = arith.addi %r, %j : i32
        %bt = accx.element %b[%o] of f32 : i32
        %p = arith.addi %o, %n : i32
        %at = accx.element %a[%p] of f32 : i32
        %v = llvm.load %at : !llvm.ptr -> f32
        llvm.store %v, %bt : f32, !llvm.ptr
        acc.yield
      } attributes {independent = [#acc.device_type<none>]}
      acc.yield
    } attributes {independent = [#acc.device_type<none>]}
    acc.yield
  }
  llvm.return
}
