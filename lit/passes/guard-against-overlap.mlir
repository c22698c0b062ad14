// RUN: accopt %s -p guard-against-overlap | filecheck %s

// Two parameters: in parallel where what the loop accesses of them lies apart, or where they are one
// array (every iteration keeps to its own element), else in order. The queue is computed once.
// CHECK-LABEL: llvm.func @apart
// CHECK:         %x_dev = acc.copyin
// CHECK:         %y_dev = acc.copyin
// CHECK:         %y_address = llvm.ptrtoint %y_dev : !llvm.ptr to i64
// CHECK:         %[[N:.*]] = arith.extsi %n : i32 to i64
// CHECK:         %[[BYTES:.*]] = arith.muli %[[N]], %c4
// CHECK:         %y_begin = arith.addi %y_address
// CHECK:         %y_end = arith.addi %y_address, %[[BYTES]]
// CHECK:         %x_address = llvm.ptrtoint %x_dev : !llvm.ptr to i64
// CHECK:         arith.cmpi ule, %y_end, %x_begin : i64
// CHECK:         arith.cmpi ule, %x_end, %y_begin : i64
// CHECK:         %apart = arith.ori
// CHECK:         %same = arith.cmpi eq, %y_address, %x_address : i64
// CHECK:         %independent = arith.ori %apart, %same : i1
// CHECK:         scf.if %independent {
// CHECK:           acc.parallel dataOperands(%x_dev, %y_dev : !llvm.ptr, !llvm.ptr) {
// CHECK:             acc.loop control
// CHECK:             } attributes {accx.note = "in parallel where 'y' and 'x' do not overlap (tested at launch), else sequentially", independent
// CHECK:         } else {
// CHECK:           acc.parallel dataOperands(%x_dev, %y_dev : !llvm.ptr, !llvm.ptr) {
// CHECK:             acc.loop control
// CHECK:             } attributes {accx.why = "fallback: arrays overlap", {{.*}}seq
// CHECK:         acc.copyout
llvm.func @apart(%n: i32, %x: !llvm.ptr, %y: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %x_dev = acc.copyin varPtr(%x : !llvm.ptr) varType(f32) -> !llvm.ptr {name = "x"}
  %y_dev = acc.copyin varPtr(%y : !llvm.ptr) varType(f32) -> !llvm.ptr {name = "y"}
  acc.parallel dataOperands(%x_dev, %y_dev : !llvm.ptr, !llvm.ptr) {
    acc.loop control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      %i64 = arith.extsi %i : i32 to i64
      %q = llvm.getelementptr inbounds %y_dev[%i64] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %v = llvm.load %q : !llvm.ptr -> f32
      %p = llvm.getelementptr inbounds %x_dev[%i64] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      llvm.store %v, %p : f32, !llvm.ptr
      acc.yield
    } attributes {independent = [#acc.device_type<none>], accx.conditional, inclusiveUpperbound = array<i1: false>}
    acc.yield
  }
  acc.copyout accPtr(%x_dev : !llvm.ptr) to varPtr(%x : !llvm.ptr) varType(f32) {name = "x"}
  llvm.return
}

// The element before: one array would make iterations depend on each other, so the arrays must lie apart.
// CHECK-LABEL: llvm.func @before
// CHECK:         %[[I:independent.*]] = arith.ori
// CHECK-NOT:     %same
// CHECK:         scf.if %[[I]] {
llvm.func @before(%n: i32, %x: !llvm.ptr, %y: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %one = arith.constant 1 : i64
  %x_dev = acc.deviceptr varPtr(%x : !llvm.ptr) varType(f32) -> !llvm.ptr {name = "x"}
  %y_dev = acc.deviceptr varPtr(%y : !llvm.ptr) varType(f32) -> !llvm.ptr {name = "y"}
  acc.parallel dataOperands(%x_dev, %y_dev : !llvm.ptr, !llvm.ptr) {
    acc.loop control(%i : i32) = (%c1 : i32) to (%n : i32) step (%c1 : i32) {
      %i64 = arith.extsi %i : i32 to i64
      %left = arith.subi %i64, %one : i64
      %q = llvm.getelementptr inbounds %y_dev[%left] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %v = llvm.load %q : !llvm.ptr -> f32
      %p = llvm.getelementptr inbounds %x_dev[%i64] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      llvm.store %v, %p : f32, !llvm.ptr
      acc.yield
    } attributes {independent = [#acc.device_type<none>], accx.conditional, inclusiveUpperbound = array<i1: false>}
    acc.yield
  }
  llvm.return
}

// Rows of length %n at a distance of %ld: independent where a row ends before the next begins.
// CHECK-LABEL: llvm.func @rows
// CHECK:         %[[ROOM:.*]] = arith.addi %{{.*}}, %{{.*}} : i64
// CHECK-NEXT:    %c0{{.*}} = arith.constant 0 : i64
// CHECK-NEXT:    %[[I:.*]] = arith.cmpi sge, %[[ROOM]], %c0{{.*}} : i64
// CHECK-NEXT:    scf.if %[[I]] {
// CHECK:           accx.note = "in parallel where its subscripts are apart (tested at launch), else sequentially"
llvm.func @rows(%n: i32, %ld: i32, %x: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = arith.constant 1.0 : f32
  %x_dev = acc.present varPtr(%x : !llvm.ptr) varType(f32) -> !llvm.ptr {name = "x"}
  acc.parallel dataOperands(%x_dev : !llvm.ptr) {
    acc.loop control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      scf.for %j = %c0 to %n step %c1 : i32 {
        %row = arith.muli %i, %ld : i32
        %at = arith.addi %row, %j : i32
        %at64 = arith.extsi %at : i32 to i64
        %p = llvm.getelementptr inbounds %x_dev[%at64] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        llvm.store %v, %p : f32, !llvm.ptr
      }
      acc.yield
    } attributes {independent = [#acc.device_type<none>], accx.conditional, inclusiveUpperbound = array<i1: false>}
    acc.yield
  }
  llvm.return
}

// Subscripts that are themselves loaded: the section of the data clause says where accesses lie; without
// one, the runtime says what is mapped there. Device pointers of the program are not mapped: the loop runs in order.
// CHECK-LABEL: llvm.func @gather
// CHECK:         arith.muli %m, %four
// CHECK-NOT:     @__accopt_extent
// CHECK:         scf.if %independent{{.*}} {
// CHECK-LABEL: llvm.func @mapped
// CHECK:         llvm.call @__accopt_extent(%y{{.*}}, %y_extent)
// CHECK-NEXT:    %y_begin{{.*}} = llvm.load %y_extent
// CHECK-NEXT:    %[[AT:.*]] = llvm.getelementptr inbounds %y_extent[8]
// CHECK-NEXT:    %y_end{{.*}} = llvm.load %[[AT]]
// CHECK:         arith.cmpi ule, %x_end{{.*}}, %y_begin
// CHECK:         scf.if %independent{{.*}} {
// CHECK-LABEL: llvm.func @unknown
// CHECK-NOT:     scf.if
// CHECK:         accx.why = "which part of 'y' it accesses is not known", {{.*}}seq
llvm.func @gather(%n: i32, %m: i64, %x: !llvm.ptr, %y: !llvm.ptr, %index: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant 0 : i64
  %four = arith.constant 4 : i64
  %b = acc.bounds lowerbound(%zero : i64) extent(%m : i64) stride(%four : i64) startIdx(%zero : i64) {strideInBytes = true}
  %x_dev = acc.present varPtr(%x : !llvm.ptr) varType(f32) -> !llvm.ptr {name = "x"}
  %y_dev = acc.present varPtr(%y : !llvm.ptr) varType(f32) bounds(%b) -> !llvm.ptr {name = "y"}
  %index_dev = acc.present varPtr(%index : !llvm.ptr) varType(i64) -> !llvm.ptr {name = "index"}
  acc.parallel dataOperands(%x_dev, %y_dev, %index_dev : !llvm.ptr, !llvm.ptr, !llvm.ptr) {
    acc.loop control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      %i64 = arith.extsi %i : i32 to i64
      %k = llvm.getelementptr inbounds %index_dev[%i64] : (!llvm.ptr, i64) -> !llvm.ptr, i64
      %at = llvm.load %k : !llvm.ptr -> i64
      %q = llvm.getelementptr inbounds %y_dev[%at] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %v = llvm.load %q : !llvm.ptr -> f32
      %p = llvm.getelementptr inbounds %x_dev[%i64] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      llvm.store %v, %p : f32, !llvm.ptr
      acc.yield
    } attributes {independent = [#acc.device_type<none>], accx.conditional, inclusiveUpperbound = array<i1: false>}
    acc.yield
  }
  llvm.return
}
llvm.func @mapped(%n: i32, %x: !llvm.ptr, %y: !llvm.ptr, %index: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %x_dev = acc.present varPtr(%x : !llvm.ptr) varType(f32) -> !llvm.ptr {name = "x"}
  %y_dev = acc.present varPtr(%y : !llvm.ptr) varType(f32) -> !llvm.ptr {name = "y"}
  %index_dev = acc.present varPtr(%index : !llvm.ptr) varType(i64) -> !llvm.ptr {name = "index"}
  acc.parallel dataOperands(%x_dev, %y_dev, %index_dev : !llvm.ptr, !llvm.ptr, !llvm.ptr) {
    acc.loop control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      %i64 = arith.extsi %i : i32 to i64
      %k = llvm.getelementptr inbounds %index_dev[%i64] : (!llvm.ptr, i64) -> !llvm.ptr, i64
      %at = llvm.load %k : !llvm.ptr -> i64
      %q = llvm.getelementptr inbounds %y_dev[%at] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %v = llvm.load %q : !llvm.ptr -> f32
      %p = llvm.getelementptr inbounds %x_dev[%i64] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      llvm.store %v, %p : f32, !llvm.ptr
      acc.yield
    } attributes {independent = [#acc.device_type<none>], accx.conditional, inclusiveUpperbound = array<i1: false>}
    acc.yield
  }
  llvm.return
}
llvm.func @unknown(%n: i32, %x: !llvm.ptr, %y: !llvm.ptr, %index: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %x_dev = acc.present varPtr(%x : !llvm.ptr) varType(f32) -> !llvm.ptr {name = "x"}
  %y_dev = acc.deviceptr varPtr(%y : !llvm.ptr) varType(f32) -> !llvm.ptr {name = "y"}
  %index_dev = acc.present varPtr(%index : !llvm.ptr) varType(i64) -> !llvm.ptr {name = "index"}
  acc.parallel dataOperands(%x_dev, %y_dev, %index_dev : !llvm.ptr, !llvm.ptr, !llvm.ptr) {
    acc.loop control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      %i64 = arith.extsi %i : i32 to i64
      %k = llvm.getelementptr inbounds %index_dev[%i64] : (!llvm.ptr, i64) -> !llvm.ptr, i64
      %at = llvm.load %k : !llvm.ptr -> i64
      %q = llvm.getelementptr inbounds %y_dev[%at] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %v = llvm.load %q : !llvm.ptr -> f32
      %p = llvm.getelementptr inbounds %x_dev[%i64] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      llvm.store %v, %p : f32, !llvm.ptr
      acc.yield
    } attributes {independent = [#acc.device_type<none>], accx.conditional, inclusiveUpperbound = array<i1: false>}
    acc.yield
  }
  llvm.return
}

// Host code has no versions.
// CHECK-LABEL: llvm.func @host
// CHECK:         accx.why = "host code", {{.*}}seq
llvm.func @host(%n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  acc.loop control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
    acc.yield
  } attributes {independent = [#acc.device_type<none>], accx.conditional, inclusiveUpperbound = array<i1: false>}
  llvm.return
}

// Rows behind an array of pointers: the host asks the runtime about all rows of the clause and what the loop reads of
// `b`, which may be a row.
// CHECK-LABEL: llvm.func @pointer_rows
// CHECK:         %sections = llvm.alloca %{{.*}} x !llvm.array<15 x i64>
// CHECK:         %b_address = llvm.ptrtoint %b{{.*}} : !llvm.ptr to i64
// CHECK:         %a_address = llvm.ptrtoint %a : !llvm.ptr to i64
// CHECK:         %[[FOUND:.*]] = llvm.call @__accopt_rows_apart(%sections, %c120) : (!llvm.ptr, i32) -> i32
// CHECK:         %[[APART:.*]] = arith.cmpi ne, %[[FOUND]]
// CHECK:         scf.if %[[APART]] {
// CHECK:             } attributes {accx.note = "in parallel where 'b', the rows of 'a' do not overlap (tested at launch), else sequentially"
llvm.func @pointer_rows(%n: i32, %m: i64, %a: !llvm.ptr, %b: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant 0 : i64
  %eight = arith.constant 8 : i64
  %n64 = arith.extsi %n : i32 to i64
  %count = acc.bounds lowerbound(%zero : i64) extent(%n64 : i64) stride(%eight : i64) startIdx(%zero : i64) {accx.pointers, strideInBytes = true}
  %row = acc.bounds lowerbound(%zero : i64) extent(%m : i64) stride(%eight : i64) startIdx(%zero : i64) {strideInBytes = true}
  %a_dev = acc.copyin varPtr(%a : !llvm.ptr) bounds(%count, %row) -> !llvm.ptr {dataClause = #acc<data_clause acc_copy>, name = "a"}
  %b_dev = acc.copyin varPtr(%b : !llvm.ptr) varType(f64) bounds(%row) -> !llvm.ptr {name = "b"}
  acc.parallel dataOperands(%a_dev, %b_dev : !llvm.ptr, !llvm.ptr) {
    acc.loop control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      %p = accx.element %a_dev[%i] of !llvm.ptr : i32
      %r = llvm.load %p : !llvm.ptr -> !llvm.ptr
      %x = accx.element %r[%c1] of f64 : i32
      %q = accx.element %b_dev[%i] of f64 : i32
      %v = llvm.load %q : !llvm.ptr -> f64
      llvm.store %v, %x : f64, !llvm.ptr
      acc.yield
    } attributes {independent = [#acc.device_type<none>], accx.conditional, inclusiveUpperbound = array<i1: false>}
    acc.yield
  }
  acc.copyout accPtr(%a_dev : !llvm.ptr) bounds(%count, %row) to varPtr(%a : !llvm.ptr) {dataClause = #acc<data_clause acc_copy>, name = "a"}
  acc.delete accPtr(%b_dev : !llvm.ptr) bounds(%row) {dataClause = #acc<data_clause acc_copyin>, name = "b"}
  llvm.return
}
