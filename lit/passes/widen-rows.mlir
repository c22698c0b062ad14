// RUN: accopt %s --split-input-file -p 'widen-rows{threads=0}' | filecheck %s
// RUN: accopt %s --split-input-file -p widen-rows | filecheck %s --check-prefix=MANY
// RUN: accopt %s --split-input-file -p 'widen-rows{threads=100000}' | filecheck %s --check-prefix=FEW
// RUN: accopt %s --split-input-file -p 'widen-rows{threads=0 most_words=5}' | filecheck %s --check-prefix=WORDS
// RUN: accopt %s --split-input-file -p 'widen-rows{threads=0 row_lanes=64 lanes=16 workers=8}' | filecheck %s --check-prefix=SHAPE
// RUN: accopt %s --split-input-file -p 'widen-rows{target=host}' | filecheck %s --check-prefix=HOST

// A row is read left and right of what is written: the host tests addresses and row length; a group of
// four columns reads six elements, four of them in one piece, and stores the columns that there are.
// CHECK-LABEL: llvm.func @three
// CHECK:       %[[A:.*]] = llvm.ptrtoint %a_dev : !llvm.ptr to i64
// CHECK-NEXT:  %[[B:.*]] = llvm.ptrtoint %b_dev : !llvm.ptr to i64
// CHECK:       %[[ROW:.*]] = arith.muli %n_1, %c4 : i64
// CHECK:       %[[AB:.*]] = arith.ori %[[A]], %[[B]] : i64
// CHECK-NEXT:  arith.ori %[[AB]], %[[ROW]] : i64
// CHECK:       %aligned = arith.cmpi eq
// CHECK:       %covered = arith.cmpi sle
// CHECK:       scf.if %{{.*}} {
// CHECK:         %groups = arith.divui
// CHECK:         acc.parallel {{.*}} num_gangs({%num_gangs_1 : i32, %num_gangs : i32}) num_workers(%{{.*}} : i32) vector_length(%c128{{.*}} : i32) {
// CHECK:           acc.loop gang control(%i : i32) = (%one : i32) to (%n : i32)
// CHECK:             acc.loop gang vector control(%group : i32) = (%{{.*}} : i32) to (%groups_1 : i32) step (%one : i32) {
// CHECK-NEXT:          %[[SIZE:.*]] = arith.constant 4 : i32
// CHECK-NEXT:          %j = arith.muli %group, %[[SIZE]] overflow<nsw> : i32
// The element to the left is read if its column is one of the loop's, else another one of the row.
// CHECK:               %edge = arith.select %valid, %cm4, %c12 : i64
// CHECK:               %edge_1 = arith.select %valid_3, %c16, %{{.*}} : i64
// CHECK-NEXT:          %whole = arith.andi %valid, %valid_3 : i1
// CHECK:               %a_dev_1 = llvm.getelementptr %a_dev[%{{.*}}] : (!llvm.ptr, i64) -> !llvm.ptr, i8
// CHECK-NEXT:          %a_dev_2 = llvm.getelementptr %a_dev_1[%edge]
// CHECK-NEXT:          %a_dev_elt = llvm.load %a_dev_2 {accx.speculative, alignment = 4 : i64} : !llvm.ptr -> f32
// CHECK-NEXT:          %a_dev_elt_1 = llvm.load %a_dev_1 {accx.speculative, alignment = 16 : i64} : !llvm.ptr -> f32
// CHECK-COUNT-3:       llvm.load
// CHECK:               %a_dev_3 = llvm.getelementptr %a_dev_1[%edge_1]
// CHECK-NEXT:          %a_dev_elt_5 = llvm.load %a_dev_3 {accx.speculative, alignment = 16 : i64} : !llvm.ptr -> f32
// CHECK-NEXT:          %s = arith.addf %a_dev_elt, %a_dev_elt_2 : f32
// CHECK-NEXT:          %s_1 = arith.addf %a_dev_elt_1, %a_dev_elt_3 : f32
// CHECK-NEXT:          %s_2 = arith.addf %a_dev_elt_2, %a_dev_elt_4 : f32
// CHECK-NEXT:          %s_3 = arith.addf %a_dev_elt_3, %a_dev_elt_5 : f32
// CHECK:               scf.if %whole {
// CHECK-COUNT-4:         llvm.store
// CHECK:               } else {
// CHECK-NEXT:            scf.if %valid {
// CHECK-NEXT:              llvm.store %s, %b_dev_1 {alignment = 16 : i64}
// CHECK:             accx.why = "4 columns per thread, 16 bytes per access, if rows are aligned"
// CHECK:       } else {
// CHECK-NEXT:    acc.parallel {{.*}} num_gangs({%gx : i32, %gy : i32}) num_workers(%c1 : i32) vector_length(%c256 : i32) {
// CHECK:             acc.loop gang vector control(%{{.*}} : i32) = (%{{.*}} : i32) to (%n : i32)
// CHECK:             accx.why = "fallback: rows are unaligned, or too few"
// MANY-LABEL:  llvm.func @three
// MANY:        %many = arith.cmpi sge, %{{.*}}, %c33792 : i64
// MANY-NEXT:   %wide = arith.andi %{{.*}}, %many : i1
// MANY-NEXT:   scf.if %wide {
// WORDS-LABEL: llvm.func @three
// WORDS-NOT:   scf.if
// WORDS:       accx.why = "one column per thread: a group's 6 words would not stay in registers"
// SHAPE:       num_workers(%c1{{.*}} : i32) vector_length(%c64{{.*}} : i32)
// HOST-NOT:    scf.if %{{[0-9]}}
// HOST-NOT:    groups
llvm.func @three(%n: i32, %gx: i32, %a: !llvm.ptr, %b: !llvm.ptr) {
  %c1 = arith.constant 1 : i32
  %c256 = arith.constant 256 : i32
  %gy = arith.constant 9 : i32
  %a_dev = acc.present varPtr(%a : !llvm.ptr) varType(f32) -> !llvm.ptr {name = "a"}
  %b_dev = acc.present varPtr(%b : !llvm.ptr) varType(f32) -> !llvm.ptr {name = "b"}
  acc.parallel dataOperands(%a_dev, %b_dev : !llvm.ptr, !llvm.ptr) num_gangs({%gx : i32, %gy : i32}) num_workers(%c1 : i32) vector_length(%c256 : i32) {
    %one = arith.constant 1 : i32
    acc.loop gang control(%i : i32) = (%one : i32) to (%n : i32) step (%one : i32) {
      %r = arith.muli %i, %n : i32
      acc.loop gang vector control(%j : i32) = (%one : i32) to (%n : i32) step (%one : i32) {
        %at = arith.addi %r, %j : i32
        %left = arith.subi %at, %one : i32
        %right = arith.addi %at, %one : i32
        %pl = accx.element %a_dev[%left] of f32 : i32
        %l = llvm.load %pl : !llvm.ptr -> f32
        %pr = accx.element %a_dev[%right] of f32 : i32
        %v = llvm.load %pr : !llvm.ptr -> f32
        %s = arith.addf %l, %v : f32
        %q = accx.element %b_dev[%at] of f32 : i32
        llvm.store %s, %q : f32, !llvm.ptr
        acc.yield
      } attributes {independent = [#acc.device_type<none>], accx.schedule = #accx.schedule<covers>}
      acc.yield
    } attributes {independent = [#acc.device_type<none>], accx.schedule = #accx.schedule<gang_dim = 2>}
    acc.yield
  }
  llvm.return
}

// -----

// Three loops: workers share the middle one. Rows of constant arrays need no test of their distance; the
// loop starts at column 2, which is aligned; what is the same in all columns is there once.
// CHECK-LABEL: llvm.func @cube
// CHECK-NOT:   arith.muli
// CHECK:       %aligned = arith.cmpi eq
// CHECK-NOT:   arith.cmpi
// CHECK:       acc.parallel {{.*}} num_gangs({%num_gangs_2 : i32, %num_gangs_1 : i32, %num_gangs : i32}) num_workers(%c4 : i32) vector_length(%c32_1 : i32) {
// CHECK:         acc.loop gang worker control(%j : i32)
// CHECK:           acc.loop gang vector control(%group : i32)
// CHECK:             %k = arith.addi %c2_{{.}}, %{{.*}} overflow<nsw> : i32
// CHECK:             %a_dev_elt = llvm.load %a_dev_1 {accx.speculative, alignment = 16 : i64} : !llvm.ptr -> f64
// CHECK:             %a_dev_elt_1 = llvm.load %{{.*}} {accx.speculative, alignment = 8 : i64} : !llvm.ptr -> f64
// CHECK:             %a_dev_elt_2 = llvm.load %{{.*}} {accx.speculative, alignment = 16 : i64} : !llvm.ptr -> f64
// CHECK-NEXT:        %w = arith.mulf %h, %h : f64
// CHECK-NEXT:        %s = arith.addf %a_dev_elt, %a_dev_elt_1 : f64
// CHECK-NEXT:        %s_1 = arith.addf %a_dev_elt_1, %a_dev_elt_2 : f64
// SHAPE:       num_workers(%c8{{.*}} : i32) vector_length(%c16{{.*}} : i32)
// How many there are is known: that is no question for the host, and too few have no wide version.
// MANY-LABEL:  llvm.func @cube
// MANY-NOT:    %many
// MANY:        scf.if %aligned {
// FEW-LABEL:   llvm.func @cube
// FEW-NOT:     scf.if
// FEW:         accx.why = "one column per thread: there are few columns and rows, 115200 in all"
llvm.func @cube(%a: !llvm.ptr, %b: !llvm.ptr) {
  %c1 = arith.constant 1 : i32
  %c128 = arith.constant 128 : i32
  %g = arith.constant 30 : i32
  %a_dev = acc.present varPtr(%a : !llvm.ptr) varType(!llvm.array<32 x !llvm.array<32 x f64>>) -> !llvm.ptr {name = "a"}
  %b_dev = acc.present varPtr(%b : !llvm.ptr) varType(!llvm.array<32 x !llvm.array<32 x f64>>) -> !llvm.ptr {name = "b"}
  acc.parallel dataOperands(%a_dev, %b_dev : !llvm.ptr, !llvm.ptr) num_gangs({%c1 : i32, %g : i32, %g : i32}) num_workers(%c1 : i32) vector_length(%c128 : i32) {
    %two = arith.constant 2 : i32
    %one = arith.constant 1 : i32
    %end = arith.constant 30 : i32
    acc.loop gang control(%i : i32) = (%two : i32) to (%end : i32) step (%one : i32) {
      acc.loop gang control(%j : i32) = (%two : i32) to (%end : i32) step (%one : i32) {
        %h = arith.sitofp %j : i32 to f64
        acc.loop gang vector control(%k : i32) = (%two : i32) to (%end : i32) step (%one : i32) {
          %w = arith.mulf %h, %h : f64
          %i64 = arith.extsi %i : i32 to i64
          %j64 = arith.extsi %j : i32 to i64
          %k64 = arith.extsi %k : i32 to i64
          %next = arith.addi %k, %one : i32
          %next64 = arith.extsi %next : i32 to i64
          %plane = accx.element %a_dev[%i64] of !llvm.array<32 x !llvm.array<32 x f64>> : i64
          %row = accx.element %plane[%j64] of !llvm.array<32 x f64> : i64
          %p = accx.element %row[%k64] of f64 : i64
          %x = llvm.load %p : !llvm.ptr -> f64
          %q = accx.element %row[%next64] of f64 : i64
          %y = llvm.load %q : !llvm.ptr -> f64
          %s = arith.addf %x, %y : f64
          %t = arith.mulf %s, %w : f64
          %o = accx.element %b_dev[%i64, %j64, %k64] of !llvm.array<32 x !llvm.array<32 x f64>> : i64, i64, i64
          llvm.store %t, %o : f64, !llvm.ptr
          acc.yield
        } attributes {independent = [#acc.device_type<none>], accx.schedule = #accx.schedule<covers>}
        acc.yield
      } attributes {independent = [#acc.device_type<none>], accx.schedule = #accx.schedule<gang_dim = 2, covers>}
      acc.yield
    } attributes {independent = [#acc.device_type<none>], accx.schedule = #accx.schedule<gang_dim = 3>}
    acc.yield
  }
  llvm.return
}

// -----

// What is left alone: sums along the row, rows that are no multiples of 16 bytes apart, a condition that
// changes along the row, reading after writing, and a subscript from memory. Only the last construct
// gets two versions.
// CHECK-LABEL: llvm.func @others
// CHECK-COUNT-2: acc.parallel
// CHECK:       accx.why = "one column per thread: rows are not multiples of 16 bytes apart"
// CHECK-COUNT-3: acc.parallel
// CHECK:       scf.if
// CHECK-COUNT-2: acc.parallel
// CHECK-NOT:   acc.parallel
llvm.func @others(%n: i32, %a: !llvm.ptr, %b: !llvm.ptr, %c: !llvm.ptr) {
  %c1 = arith.constant 1 : i32
  %c128 = arith.constant 128 : i32
  %a_dev = acc.present varPtr(%a : !llvm.ptr) varType(f32) -> !llvm.ptr {name = "a"}
  %b_dev = acc.present varPtr(%b : !llvm.ptr) varType(f32) -> !llvm.ptr {name = "b"}
  %c_dev = acc.present varPtr(%c : !llvm.ptr) varType(i32) -> !llvm.ptr {name = "c"}
  acc.parallel dataOperands(%a_dev, %b_dev, %c_dev : !llvm.ptr, !llvm.ptr, !llvm.ptr) num_gangs({%c1 : i32}) num_workers(%c1 : i32) vector_length(%c128 : i32) {
    %one = arith.constant 1 : i32
    %row = arith.constant 64 : i32
    %zero = arith.constant 0.0 : f32
    acc.loop gang control(%i : i32) = (%one : i32) to (%n : i32) step (%one : i32) {
      %r = arith.muli %i, %row : i32
      acc.loop vector control(%j : i32) = (%one : i32) to (%n : i32) step (%one : i32) {
        %at = arith.addi %r, %j : i32
        %right = arith.addi %at, %one : i32
        %p = accx.element %a_dev[%at] of f32 : i32
        %x = llvm.load %p : !llvm.ptr -> f32
        %pr = accx.element %a_dev[%right] of f32 : i32
        %y = llvm.load %pr : !llvm.ptr -> f32
        %s = arith.addf %x, %y : f32
        %q = accx.element %b_dev[%at] of f32 : i32
        %sum = scf.for %k = %one to %j step %one iter_args(%t = %s) -> (f32) : i32 {
          %u = arith.addf %t, %s : f32
          scf.yield %u : f32
        }
        llvm.store %sum, %q : f32, !llvm.ptr
        acc.yield
      } attributes {independent = [#acc.device_type<none>]}
      acc.yield
    } attributes {independent = [#acc.device_type<none>]}
    acc.yield
  }
  acc.parallel dataOperands(%a_dev, %b_dev, %c_dev : !llvm.ptr, !llvm.ptr, !llvm.ptr) num_gangs({%c1 : i32}) num_workers(%c1 : i32) vector_length(%c128 : i32) {
    %one = arith.constant 1 : i32
    %row = arith.constant 63 : i32
    %zero = arith.constant 0.0 : f32
    acc.loop gang control(%i : i32) = (%one : i32) to (%n : i32) step (%one : i32) {
      %r = arith.muli %i, %row : i32
      acc.loop vector control(%j : i32) = (%one : i32) to (%n : i32) step (%one : i32) {
        %at = arith.addi %r, %j : i32
        %right = arith.addi %at, %one : i32
        %p = accx.element %a_dev[%at] of f32 : i32
        %x = llvm.load %p : !llvm.ptr -> f32
        %pr = accx.element %a_dev[%right] of f32 : i32
        %y = llvm.load %pr : !llvm.ptr -> f32
        %s = arith.addf %x, %y : f32
        %q = accx.element %b_dev[%at] of f32 : i32
        llvm.store %s, %q : f32, !llvm.ptr
        acc.yield
      } attributes {independent = [#acc.device_type<none>]}
      acc.yield
    } attributes {independent = [#acc.device_type<none>]}
    acc.yield
  }
  acc.parallel dataOperands(%a_dev, %b_dev, %c_dev : !llvm.ptr, !llvm.ptr, !llvm.ptr) num_gangs({%c1 : i32}) num_workers(%c1 : i32) vector_length(%c128 : i32) {
    %one = arith.constant 1 : i32
    %row = arith.constant 64 : i32
    %zero = arith.constant 0.0 : f32
    acc.loop gang control(%i : i32) = (%one : i32) to (%n : i32) step (%one : i32) {
      %r = arith.muli %i, %row : i32
      acc.loop vector control(%j : i32) = (%one : i32) to (%n : i32) step (%one : i32) {
        %at = arith.addi %r, %j : i32
        %right = arith.addi %at, %one : i32
        %p = accx.element %a_dev[%at] of f32 : i32
        %x = llvm.load %p : !llvm.ptr -> f32
        %pr = accx.element %a_dev[%right] of f32 : i32
        %y = llvm.load %pr : !llvm.ptr -> f32
        %s = arith.addf %x, %y : f32
        %q = accx.element %b_dev[%at] of f32 : i32
        %more = arith.cmpf ogt, %s, %zero : f32
        scf.if %more {
          llvm.store %s, %q : f32, !llvm.ptr
        }
        acc.yield
      } attributes {independent = [#acc.device_type<none>]}
      acc.yield
    } attributes {independent = [#acc.device_type<none>]}
    acc.yield
  }
  acc.parallel dataOperands(%a_dev, %b_dev, %c_dev : !llvm.ptr, !llvm.ptr, !llvm.ptr) num_gangs({%c1 : i32}) num_workers(%c1 : i32) vector_length(%c128 : i32) {
    %one = arith.constant 1 : i32
    %row = arith.constant 64 : i32
    %zero = arith.constant 0.0 : f32
    acc.loop gang control(%i : i32) = (%one : i32) to (%n : i32) step (%one : i32) {
      %r = arith.muli %i, %row : i32
      acc.loop vector control(%j : i32) = (%one : i32) to (%n : i32) step (%one : i32) {
        %at = arith.addi %r, %j : i32
        %right = arith.addi %at, %one : i32
        %p = accx.element %a_dev[%at] of f32 : i32
        %x = llvm.load %p : !llvm.ptr -> f32
        %pr = accx.element %a_dev[%right] of f32 : i32
        %y = llvm.load %pr : !llvm.ptr -> f32
        %s = arith.addf %x, %y : f32
        %q = accx.element %b_dev[%at] of f32 : i32
        llvm.store %s, %q : f32, !llvm.ptr
        %again = llvm.load %q : !llvm.ptr -> f32
        llvm.store %again, %q : f32, !llvm.ptr
        acc.yield
      } attributes {independent = [#acc.device_type<none>]}
      acc.yield
    } attributes {independent = [#acc.device_type<none>]}
    acc.yield
  }
  acc.parallel dataOperands(%a_dev, %b_dev, %c_dev : !llvm.ptr, !llvm.ptr, !llvm.ptr) num_gangs({%c1 : i32}) num_workers(%c1 : i32) vector_length(%c128 : i32) {
    %one = arith.constant 1 : i32
    %row = arith.constant 64 : i32
    %zero = arith.constant 0.0 : f32
    acc.loop gang control(%i : i32) = (%one : i32) to (%n : i32) step (%one : i32) {
      %r = arith.muli %i, %row : i32
      acc.loop vector control(%j : i32) = (%one : i32) to (%n : i32) step (%one : i32) {
        %at = arith.addi %r, %j : i32
        %right = arith.addi %at, %one : i32
        %p = accx.element %a_dev[%at] of f32 : i32
        %x = llvm.load %p : !llvm.ptr -> f32
        %pr = accx.element %a_dev[%right] of f32 : i32
        %y = llvm.load %pr : !llvm.ptr -> f32
        %s = arith.addf %x, %y : f32
        %q = accx.element %b_dev[%at] of f32 : i32
        %ci = accx.element %c_dev[%j] of i32 : i32
        %index = llvm.load %ci : !llvm.ptr -> i32
        %from = accx.element %a_dev[%index] of f32 : i32
        %z = llvm.load %from : !llvm.ptr -> f32
        %v = arith.addf %s, %z : f32
        llvm.store %v, %q : f32, !llvm.ptr
        acc.yield
      } attributes {independent = [#acc.device_type<none>]}
      acc.yield
    } attributes {independent = [#acc.device_type<none>]}
    acc.yield
  }
  acc.parallel dataOperands(%a_dev, %b_dev, %c_dev : !llvm.ptr, !llvm.ptr, !llvm.ptr) num_gangs({%c1 : i32}) num_workers(%c1 : i32) vector_length(%c128 : i32) {
    %one = arith.constant 1 : i32
    %row = arith.constant 64 : i32
    %zero = arith.constant 0.0 : f32
    acc.loop gang control(%i : i32) = (%one : i32) to (%n : i32) step (%one : i32) {
      %r = arith.muli %i, %row : i32
      acc.loop vector control(%j : i32) = (%one : i32) to (%n : i32) step (%one : i32) {
        %at = arith.addi %r, %j : i32
        %right = arith.addi %at, %one : i32
        %p = accx.element %a_dev[%at] of f32 : i32
        %x = llvm.load %p : !llvm.ptr -> f32
        %pr = accx.element %a_dev[%right] of f32 : i32
        %y = llvm.load %pr : !llvm.ptr -> f32
        %s = arith.addf %x, %y : f32
        %q = accx.element %b_dev[%at] of f32 : i32
        llvm.store %s, %q : f32, !llvm.ptr
        acc.yield
      } attributes {independent = [#acc.device_type<none>]}
      acc.yield
    } attributes {independent = [#acc.device_type<none>]}
    acc.yield
  }
  llvm.return
}
