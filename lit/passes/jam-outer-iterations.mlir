// RUN: accopt %s -p "jam-outer-iterations{threads=0}" | filecheck %s
// RUN: accopt %s -p "jam-outer-iterations{threads=1000}" | filecheck %s --check-prefix=LAUNCH

// Two rows of a product: one inner loop carries both sums, what does not depend on the row is there
// once, and a tile that is not full runs row after row.
// CHECK-LABEL: llvm.func @product
llvm.func @product(%n: i32, %a: !llvm.ptr, %b: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  acc.parallel {
    // CHECK:      %tiles = arith.divui
    // CHECK:      acc.loop gang control(%i : i32) = (%{{.*}} : i32) to (%tiles : i32)
    // CHECK-NEXT:   acc.loop vector control(%j : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
    // CHECK-NEXT:     %first = arith.muli %i, %c2 overflow<nsw> : i32
    // CHECK:          scf.if %full {
    // CHECK:            %r = arith.muli %{{.*}}, %n : i32
    // CHECK-NEXT:       %r_1 = arith.muli %{{.*}}, %n : i32
    // CHECK:            scf.for %k = %c0 to %n step %c1 iter_args(%sum = %z, %sum_1 = %z) -> (f32, f32)
    // CHECK-NEXT:         %kj = arith.addi %k, %j : i32
    // CHECK-NEXT:         %p = accx.element
    // CHECK-NEXT:         %v = llvm.load %p
    // CHECK-NEXT:         %q = accx.element
    // CHECK-NEXT:         %q_1 = accx.element
    // CHECK:              scf.yield %t, %t_1 : f32, f32
    // CHECK:            llvm.store %s,
    // CHECK-NEXT:       llvm.store %s_1,
    // CHECK:          } else {
    // CHECK:            scf.for %row = %first to %trips step
    acc.loop gang control(%i : i32) = (%c1 : i32) to (%n : i32) step (%c1 : i32) {
      %r = arith.muli %i, %n : i32
      acc.loop vector control(%j : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
        %z = arith.constant 0.0 : f32
        %ij = arith.addi %r, %j : i32
        %s = scf.for %k = %c0 to %n step %c1 iter_args(%sum = %z) -> (f32) : i32 {
          %kj = arith.addi %k, %j : i32
          %p = accx.element %a[%kj] of f32 : i32
          %v = llvm.load %p : !llvm.ptr -> f32
          %q = accx.element %b[%ij] of f32 : i32
          %w = llvm.load %q : !llvm.ptr -> f32
          %m = arith.mulf %v, %w : f32
          %t = arith.addf %sum, %m : f32
          scf.yield %t : f32
        }
        %o = accx.element %b[%ij] of f32 : i32
        llvm.store %s, %o : f32, !llvm.ptr
        acc.yield
      } attributes {independent = [#acc.device_type<none>], vector = [#acc.device_type<none>]}
      acc.yield
    // CHECK: accx.why = "2 iterations side by side in each thread"
    } attributes {independent = [#acc.device_type<none>], gang = [#acc.device_type<none>], accx.schedule = #accx.schedule<elements = 2>}
    acc.yield
  }
  llvm.return
}

// A loop that is the same for all rows runs once for them.
// CHECK-LABEL: llvm.func @column_sum
llvm.func @column_sum(%n: i32, %a: !llvm.ptr, %b: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  acc.parallel {
    acc.loop gang control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      acc.loop vector control(%j : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
        %z = arith.constant 0.0 : f32
        // CHECK:      scf.if
        // CHECK:      %total = scf.for
        // CHECK-SAME: iter_args(%{{.*}} = %{{.*}}) -> (f32)
        // CHECK:      llvm.store %total,
        // CHECK-NEXT: llvm.store %total,
        %total = scf.for %k = %c0 to %n step %c1 iter_args(%sum = %z) -> (f32) : i32 {
          %kj = arith.addi %k, %j : i32
          %p = accx.element %a[%kj] of f32 : i32
          %v = llvm.load %p : !llvm.ptr -> f32
          %t = arith.addf %sum, %v : f32
          scf.yield %t : f32
        }
        %ij = arith.addi %i, %j : i32
        %o = accx.element %b[%ij] of f32 : i32
        llvm.store %total, %o : f32, !llvm.ptr
        acc.yield
      } attributes {independent = [#acc.device_type<none>], vector = [#acc.device_type<none>]}
      acc.yield
    } attributes {independent = [#acc.device_type<none>], gang = [#acc.device_type<none>], accx.schedule = #accx.schedule<elements = 2>}
    acc.yield
  }
  llvm.return
}

// A triangular nest: the inner bound changes from row to row.
// CHECK-LABEL: llvm.func @triangle
llvm.func @triangle(%n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  acc.parallel {
    // CHECK: acc.loop gang control(%{{.*}} : i32) = (%{{.*}} : i32) to (%{{.*}} : i32)
    acc.loop gang control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      acc.loop vector control(%j : i32) = (%c0 : i32) to (%i : i32) step (%c1 : i32) {
        acc.yield
      } attributes {independent = [#acc.device_type<none>], vector = [#acc.device_type<none>]}
      acc.yield
    // CHECK: accx.why = "rows not kept side by side: an inner loop's bounds change from row to row"
    } attributes {independent = [#acc.device_type<none>], gang = [#acc.device_type<none>], accx.schedule = #accx.schedule<elements = 2>}
    acc.yield
  }
  llvm.return
}

// A variable of the thread that outlives an iteration would be shared by the rows.
// CHECK-LABEL: llvm.func @temporary
llvm.func @temporary(%n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  acc.parallel {
    %t = llvm.alloca %c1 x i32 : (i32) -> !llvm.ptr
    acc.loop gang control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      acc.loop vector control(%j : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
        llvm.store %j, %t : i32, !llvm.ptr
        acc.yield
      } attributes {independent = [#acc.device_type<none>], vector = [#acc.device_type<none>]}
      acc.yield
    // CHECK: the body stores to a variable that lives outside of it
    } attributes {independent = [#acc.device_type<none>], gang = [#acc.device_type<none>], accx.schedule = #accx.schedule<elements = 4>}
    acc.yield
  }
  llvm.return
}

// Rows that stay apart get a gang each: the grid was made for three a gang.
// CHECK-LABEL: llvm.func @apart
// CHECK:         %[[ROWS:.*]] = arith.muli %{{.*}}, %{{.*}} : i64
// CHECK:         %[[LIMITED:.*]] = arith.minsi %[[ROWS]], %c2147483647 : i64
// CHECK:         %[[GANGS:.*]] = arith.trunci %[[LIMITED]] : i64 to i32
// CHECK:         acc.parallel num_gangs({%c1{{.*}} : i32, %[[GANGS]] : i32})
// CHECK-NOT:     elements =
// CHECK:         #accx.schedule<gang_dim = 2, covers>
// CHECK-SAME:    rows not kept side by side
llvm.func @apart() {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c6 = arith.constant 6 : i32
  acc.parallel num_gangs({%c1 : i32, %c2 : i32}) {
    acc.loop gang control(%i : i32) = (%c0 : i32) to (%c6 : i32) step (%c1 : i32) {
      acc.loop vector control(%j : i32) = (%c0 : i32) to (%i : i32) step (%c1 : i32) {
        acc.yield
      } attributes {independent = [#acc.device_type<none>], vector = [#acc.device_type<none>]}
      acc.yield
    } attributes {independent = [#acc.device_type<none>], gang = [#acc.device_type<none>], accx.schedule = #accx.schedule<gang_dim = 2, elements = 3, covers>}
    acc.yield
  }
  llvm.return
}

// Tiles are of the first variable. The other keeps its bounds and its step, even if they are the values that
// the first one has; and as each column has a last tile
// that may not be full, there may be more tiles than gangs for all iterations by two.
// CHECK-LABEL: llvm.func @collapsed
// CHECK:         %[[TWO:c2.*]] = arith.constant 2 : i32
// CHECK:         %[[SEVEN:c7.*]] = arith.constant 7 : i32
// CHECK:         acc.loop gang control(%i{{.*}} : i32, %k{{.*}} : i32) =
// CHECK-SAME:      (%c0{{.*}}, %[[TWO]] : i32, i32) to (%tiles{{.*}}, %[[SEVEN]] : i32, i32) step (%c1{{.*}}, %[[TWO]] : i32, i32)
// CHECK-NOT:     covers
// CHECK:         #accx.schedule<gang_dim = 2>
llvm.func @collapsed(%n: i32, %a: !llvm.ptr) {
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c7 = arith.constant 7 : i32
  %c11 = arith.constant 11 : i32
  acc.parallel num_gangs({%c1 : i32, %c11 : i32}) {
    acc.loop gang control(%i : i32, %k : i32) = (%c7, %c2 : i32, i32) to (%n, %c7 : i32, i32) step (%c2, %c2 : i32, i32) {
      acc.loop vector control(%j : i32) = (%c1 : i32) to (%n : i32) step (%c1 : i32) {
        %p = accx.element %a[%i, %k, %j] of !llvm.array<9 x !llvm.array<9 x i32>> : i32, i32, i32
        llvm.store %j, %p : i32, !llvm.ptr
        acc.yield
      } attributes {independent = [#acc.device_type<none>], vector = [#acc.device_type<none>]}
      acc.yield
    } attributes {independent = [#acc.device_type<none>], gang = [#acc.device_type<none>], inclusiveUpperbound = array<i1: false, false>, collapse = [2 : i64], collapseDeviceType = [#acc.device_type<none>], accx.schedule = #accx.schedule<gang_dim = 2, elements = 2, covers>}
    acc.yield
  }
  llvm.return
}

// A value of the row that the loop does not change is read for each row.
// CHECK-LABEL: llvm.func @row_value
llvm.func @row_value(%n: i32, %a: !llvm.ptr {llvm.noalias}, %b: !llvm.ptr {llvm.noalias}) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  acc.parallel {
    // CHECK:          acc.loop vector
    // CHECK:          scf.if %full{{.*}} {
    // CHECK:            %v{{.*}} = llvm.load
    // CHECK-NEXT:       %v_{{.*}} = llvm.load
    // CHECK:            llvm.store
    // CHECK:          } else {
    acc.loop gang control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      %p = accx.element %b[%i] of f32 : i32
      %v = llvm.load %p : !llvm.ptr -> f32
      acc.loop vector control(%j : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
        %r = arith.muli %i, %n : i32
        %ij = arith.addi %r, %j : i32
        %o = accx.element %a[%ij] of f32 : i32
        llvm.store %v, %o : f32, !llvm.ptr
        acc.yield
      } attributes {independent = [#acc.device_type<none>], vector = [#acc.device_type<none>]}
      acc.yield
    } attributes {independent = [#acc.device_type<none>], gang = [#acc.device_type<none>], accx.schedule = #accx.schedule<elements = 2>}
    acc.yield
  }
  llvm.return
}

// A value that the loop may change stays where it is.
// CHECK-LABEL: llvm.func @changed_value
llvm.func @changed_value(%n: i32, %a: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  acc.parallel {
    // CHECK-NOT:  scf.if
    // CHECK:      rows not kept side by side: there is other code between the loops
    acc.loop gang control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      %p = accx.element %a[%i] of f32 : i32
      %v = llvm.load %p : !llvm.ptr -> f32
      acc.loop vector control(%j : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
        %o = accx.element %a[%j] of f32 : i32
        llvm.store %v, %o : f32, !llvm.ptr
        acc.yield
      } attributes {independent = [#acc.device_type<none>], vector = [#acc.device_type<none>]}
      acc.yield
    } attributes {independent = [#acc.device_type<none>], gang = [#acc.device_type<none>], accx.schedule = #accx.schedule<elements = 2>}
    acc.yield
  }
  llvm.return
}

// Rows that divide doubles often have registers for themselves only.
// CHECK-LABEL: llvm.func @divisions
llvm.func @divisions(%n: i32, %a: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  acc.parallel {
    // CHECK: rows not kept side by side: a row has 8 divisions or roots of doubles
    acc.loop gang control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      acc.loop vector control(%j : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
        %p = accx.element %a[%i, %j] of !llvm.array<64 x f64> : i32, i32
        %v = llvm.load %p : !llvm.ptr -> f64
        %v1 = arith.divf %v, %v : f64
        %v2 = arith.divf %v1, %v : f64
        %v3 = arith.divf %v2, %v : f64
        %v4 = arith.divf %v3, %v : f64
        %v5 = arith.divf %v4, %v : f64
        %v6 = arith.divf %v5, %v : f64
        %v7 = math.sqrt %v6 : f64
        %v8 = math.sqrt %v7 : f64
        llvm.store %v8, %p : f64, !llvm.ptr
        acc.yield
      } attributes {independent = [#acc.device_type<none>], vector = [#acc.device_type<none>]}
      acc.yield
    } attributes {independent = [#acc.device_type<none>], gang = [#acc.device_type<none>], accx.schedule = #accx.schedule<elements = 2>}
    acc.yield
  }
  llvm.return
}

// Of rows that read and store several arrays, two are side by side, not four.
// CHECK-LABEL: llvm.func @several_results
llvm.func @several_results(%n: i32, %a: !llvm.ptr, %b: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  acc.parallel {
    // CHECK:            scf.if %full
    // CHECK-COUNT-6:      llvm.store
    // CHECK:            } else {
    // CHECK:            accx.why = "2 iterations side by side in each thread"
    acc.loop gang control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      acc.loop vector control(%j : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
        %p0 = accx.element %a[0, %i, %j] of !llvm.array<64 x !llvm.array<64 x i32>> : i32, i32
        %p1 = accx.element %a[1, %i, %j] of !llvm.array<64 x !llvm.array<64 x i32>> : i32, i32
        %p2 = accx.element %a[2, %i, %j] of !llvm.array<64 x !llvm.array<64 x i32>> : i32, i32
        %q0 = accx.element %b[0, %i, %j] of !llvm.array<64 x !llvm.array<64 x i32>> : i32, i32
        %q1 = accx.element %b[1, %i, %j] of !llvm.array<64 x !llvm.array<64 x i32>> : i32, i32
        %q2 = accx.element %b[2, %i, %j] of !llvm.array<64 x !llvm.array<64 x i32>> : i32, i32
        %v0 = llvm.load %q0 : !llvm.ptr -> i32
        %v1 = llvm.load %q1 : !llvm.ptr -> i32
        %v2 = llvm.load %q2 : !llvm.ptr -> i32
        llvm.store %v0, %p0 : i32, !llvm.ptr
        llvm.store %v1, %p1 : i32, !llvm.ptr
        llvm.store %v2, %p2 : i32, !llvm.ptr
        acc.yield
      } attributes {independent = [#acc.device_type<none>], vector = [#acc.device_type<none>]}
      acc.yield
    } attributes {independent = [#acc.device_type<none>], gang = [#acc.device_type<none>], accx.schedule = #accx.schedule<elements = 4>}
    acc.yield
  }
  llvm.return
}

// Of long rows that share no accesses, four are side by side, not eight.
// CHECK-LABEL: llvm.func @many_accesses
llvm.func @many_accesses(%n: i32, %a: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  acc.parallel {
    // CHECK:            scf.if %full
    // CHECK-COUNT-68:     llvm.store
    // CHECK:            } else {
    // CHECK:            accx.why = "4 iterations side by side in each thread"
    acc.loop gang control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      acc.loop vector control(%j : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
        %p0 = accx.element %a[0, %i, %j] of !llvm.array<64 x !llvm.array<64 x i32>> : i32, i32
        llvm.store %j, %p0 : i32, !llvm.ptr
        %p1 = accx.element %a[1, %i, %j] of !llvm.array<64 x !llvm.array<64 x i32>> : i32, i32
        llvm.store %j, %p1 : i32, !llvm.ptr
        %p2 = accx.element %a[2, %i, %j] of !llvm.array<64 x !llvm.array<64 x i32>> : i32, i32
        llvm.store %j, %p2 : i32, !llvm.ptr
        %p3 = accx.element %a[3, %i, %j] of !llvm.array<64 x !llvm.array<64 x i32>> : i32, i32
        llvm.store %j, %p3 : i32, !llvm.ptr
        %p4 = accx.element %a[4, %i, %j] of !llvm.array<64 x !llvm.array<64 x i32>> : i32, i32
        llvm.store %j, %p4 : i32, !llvm.ptr
        %p5 = accx.element %a[5, %i, %j] of !llvm.array<64 x !llvm.array<64 x i32>> : i32, i32
        llvm.store %j, %p5 : i32, !llvm.ptr
        %p6 = accx.element %a[6, %i, %j] of !llvm.array<64 x !llvm.array<64 x i32>> : i32, i32
        llvm.store %j, %p6 : i32, !llvm.ptr
        %p7 = accx.element %a[7, %i, %j] of !llvm.array<64 x !llvm.array<64 x i32>> : i32, i32
        llvm.store %j, %p7 : i32, !llvm.ptr
        %p8 = accx.element %a[8, %i, %j] of !llvm.array<64 x !llvm.array<64 x i32>> : i32, i32
        llvm.store %j, %p8 : i32, !llvm.ptr
        %p9 = accx.element %a[9, %i, %j] of !llvm.array<64 x !llvm.array<64 x i32>> : i32, i32
        llvm.store %j, %p9 : i32, !llvm.ptr
        %p10 = accx.element %a[10, %i, %j] of !llvm.array<64 x !llvm.array<64 x i32>> : i32, i32
        llvm.store %j, %p10 : i32, !llvm.ptr
        %p11 = accx.element %a[11, %i, %j] of !llvm.array<64 x !llvm.array<64 x i32>> : i32, i32
        llvm.store %j, %p11 : i32, !llvm.ptr
        %p12 = accx.element %a[12, %i, %j] of !llvm.array<64 x !llvm.array<64 x i32>> : i32, i32
        llvm.store %j, %p12 : i32, !llvm.ptr
        %p13 = accx.element %a[13, %i, %j] of !llvm.array<64 x !llvm.array<64 x i32>> : i32, i32
        llvm.store %j, %p13 : i32, !llvm.ptr
        %p14 = accx.element %a[14, %i, %j] of !llvm.array<64 x !llvm.array<64 x i32>> : i32, i32
        llvm.store %j, %p14 : i32, !llvm.ptr
        %p15 = accx.element %a[15, %i, %j] of !llvm.array<64 x !llvm.array<64 x i32>> : i32, i32
        llvm.store %j, %p15 : i32, !llvm.ptr
        %p16 = accx.element %a[16, %i, %j] of !llvm.array<64 x !llvm.array<64 x i32>> : i32, i32
        llvm.store %j, %p16 : i32, !llvm.ptr
        acc.yield
      } attributes {independent = [#acc.device_type<none>], vector = [#acc.device_type<none>]}
      acc.yield
    } attributes {independent = [#acc.device_type<none>], gang = [#acc.device_type<none>], accx.schedule = #accx.schedule<elements = 8>}
    acc.yield
  }
  llvm.return
}

// Loops that reduce the same scalar: each row has its own copy, so that no row overwrites what another adds.
// CHECK-LABEL: llvm.func @reduced
// CHECK:         acc.loop gang reduction(%[[OUTER:[a-z_0-9]+]] : !llvm.ptr)
// CHECK:           %[[FIRST:[a-z_0-9]+]] = acc.reduction varPtr(%[[OUTER]] : !llvm.ptr)
// CHECK-NEXT:      %[[SECOND:[a-z_0-9]+]] = acc.reduction varPtr(%[[OUTER]] : !llvm.ptr)
// CHECK-NEXT:      acc.loop vector reduction(%[[FIRST]], %[[SECOND]] : !llvm.ptr, !llvm.ptr)
// CHECK:             %[[ONE:.*]] = llvm.load %[[FIRST]] : !llvm.ptr -> i32
// CHECK-NEXT:        %[[TWO:.*]] = llvm.load %[[SECOND]] : !llvm.ptr -> i32
// CHECK-NEXT:        %[[MORE:.*]] = arith.addi %[[ONE]], %{{.*}} : i32
// CHECK-NEXT:        %[[TOO:.*]] = arith.addi %[[TWO]], %{{.*}} : i32
// CHECK-NEXT:        llvm.store %[[MORE]], %[[FIRST]] : i32, !llvm.ptr
// CHECK-NEXT:        llvm.store %[[TOO]], %[[SECOND]] : i32, !llvm.ptr
// CHECK:             } else {
// CHECK:               llvm.load %[[FIRST]] : !llvm.ptr -> i32
// CHECK:         accx.why = "2 iterations side by side in each thread"
acc.reduction.recipe @reduction_add_i32 : !llvm.ptr reduction_operator <add> init {
^bb0(%a: !llvm.ptr):
  %one = arith.constant 1 : i32
  %copy = llvm.alloca %one x i32 : (i32) -> !llvm.ptr
  %zero = arith.constant 0 : i32
  llvm.store %zero, %copy : i32, !llvm.ptr
  acc.yield %copy : !llvm.ptr
} combiner {
^bb0(%a: !llvm.ptr, %b: !llvm.ptr):
  %x = llvm.load %a : !llvm.ptr -> i32
  %y = llvm.load %b : !llvm.ptr -> i32
  %both = arith.addi %x, %y : i32
  llvm.store %both, %a : i32, !llvm.ptr
  acc.yield %a : !llvm.ptr
}
llvm.func @reduced(%n: i32, %s: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  acc.parallel num_gangs({%n : i32}) {
    %all = acc.reduction varPtr(%s : !llvm.ptr) varType(i32) recipe(@reduction_add_i32) -> !llvm.ptr
    acc.loop gang reduction(%all : !llvm.ptr) control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      %own = acc.reduction varPtr(%all : !llvm.ptr) varType(i32) recipe(@reduction_add_i32) -> !llvm.ptr
      acc.loop vector reduction(%own : !llvm.ptr) control(%j : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
        %old = llvm.load %own : !llvm.ptr -> i32
        %new = arith.addi %old, %i : i32
        llvm.store %new, %own : i32, !llvm.ptr
        acc.yield
      } attributes {independent = [#acc.device_type<none>], vector = [#acc.device_type<none>]}
      acc.yield
    } attributes {independent = [#acc.device_type<none>], gang = [#acc.device_type<none>], accx.schedule = #accx.schedule<elements = 2>}
    acc.yield
  }
  llvm.return
}

// The launch chooses: with fewer than 1000 threads of three rows, each thread has one row, by the copy for tiles
// that are not full, and the grid is as large as the rows.
// LAUNCH-LABEL: llvm.func @at_launch
// LAUNCH:         %many{{.*}} = arith.cmpi sge, %{{.*}}, %c3000
// LAUNCH:         %[[ROWS:rows.*]] = arith.select %many{{.*}}, %c3{{.*}}, %c1{{.*}} : i64
// LAUNCH:         %[[UP:.*]] = arith.addi %{{.*}}, %{{.*}} : i64
// LAUNCH-NEXT:    arith.divui %[[UP]], %[[ROWS]] : i64
// LAUNCH:         acc.parallel
// LAUNCH:           %[[SIZE:.*]] = arith.trunci %[[ROWS]] : i64 to i32
// LAUNCH:           %tiles{{.*}} = arith.divui %{{.*}}, %[[SIZE]] : i32
// LAUNCH:           %first{{.*}} = arith.muli %{{.*}}, %[[SIZE]] overflow<nsw> : i32
// LAUNCH-NEXT:      %past{{.*}} = arith.addi %first{{.*}}, %[[SIZE]] overflow<nsw> : i32
// LAUNCH:           %several{{.*}} = arith.cmpi eq, %[[SIZE]], %c3{{.*}} : i32
// LAUNCH:           %[[FULL:.*]] = arith.andi %several{{.*}}, %full{{.*}} : i1
// LAUNCH-NEXT:      %[[END:.*]] = arith.minsi %past{{.*}}, %trips{{.*}} : i32
// LAUNCH-NEXT:      scf.if %[[FULL]] {
// LAUNCH-COUNT-3:     llvm.store
// LAUNCH:             scf.for %row{{.*}} = %first{{.*}} to %[[END]] step
// LAUNCH:         "3 iterations side by side in each thread, one if there are fewer than 1000 threads with so many"
llvm.func @at_launch(%n: i32, %a: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  acc.parallel num_gangs({%c1 : i32, %n : i32}) {
    acc.loop gang control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      acc.loop vector control(%j : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
        %p = accx.element %a[%i, %j] of !llvm.array<9 x i32> : i32, i32
        llvm.store %j, %p : i32, !llvm.ptr
        acc.yield
      } attributes {independent = [#acc.device_type<none>], vector = [#acc.device_type<none>]}
      acc.yield
    } attributes {independent = [#acc.device_type<none>], gang = [#acc.device_type<none>], accx.schedule = #accx.schedule<gang_dim = 2, elements = 3, covers>}
    acc.yield
  }
  llvm.return
}

// With numbers that are known, nothing is left to the launch: 80 by 30 iterations are no 1000 threads of three,
// 80 by 40 are.
// LAUNCH-LABEL: llvm.func @constant
// LAUNCH-NOT:     arith.select
// LAUNCH:         rows not kept side by side: too few iterations to fill the device
// LAUNCH:         "3 iterations side by side in each thread"
llvm.func @constant(%a: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c27 = arith.constant 27 : i32
  %c30 = arith.constant 30 : i32
  %c40 = arith.constant 40 : i32
  %c80 = arith.constant 80 : i32
  acc.parallel num_gangs({%c1 : i32, %c27 : i32}) {
    acc.loop gang control(%i : i32) = (%c0 : i32) to (%c80 : i32) step (%c1 : i32) {
      acc.loop vector control(%j : i32) = (%c0 : i32) to (%c30 : i32) step (%c1 : i32) {
        %p = accx.element %a[%i, %j] of !llvm.array<40 x i32> : i32, i32
        llvm.store %j, %p : i32, !llvm.ptr
        acc.yield
      } attributes {independent = [#acc.device_type<none>], vector = [#acc.device_type<none>]}
      acc.yield
    } attributes {independent = [#acc.device_type<none>], gang = [#acc.device_type<none>], accx.schedule = #accx.schedule<gang_dim = 2, elements = 3, covers>}
    acc.yield
  }
  acc.parallel num_gangs({%c1 : i32, %c27 : i32}) {
    acc.loop gang control(%i : i32) = (%c0 : i32) to (%c80 : i32) step (%c1 : i32) {
      acc.loop vector control(%j : i32) = (%c0 : i32) to (%c40 : i32) step (%c1 : i32) {
        %p = accx.element %a[%i, %j] of !llvm.array<40 x i32> : i32, i32
        llvm.store %j, %p : i32, !llvm.ptr
        acc.yield
      } attributes {independent = [#acc.device_type<none>], vector = [#acc.device_type<none>]}
      acc.yield
    } attributes {independent = [#acc.device_type<none>], gang = [#acc.device_type<none>], accx.schedule = #accx.schedule<gang_dim = 2, elements = 3, covers>}
    acc.yield
  }
  llvm.return
}
