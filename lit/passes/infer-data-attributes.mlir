// RUN: accopt %s -p infer-data-attributes | filecheck %s

llvm.mlir.global external @table() : !llvm.array<16 x f32>
llvm.mlir.global external @limit() : i32

// Pointers used as arrays: the section follows from the loop and the subscripts; what is only read
// is copyin, and exits mirror entries.
// CHECK-LABEL: llvm.func @sections
// CHECK:         %x_bounds = acc.bounds lowerbound(%{{.*}} : i64) extent(%{{.*}} : i64) stride(%c4 : i64)
// CHECK:         %x_dev = acc.copyin varPtr(%x : !llvm.ptr) varType(f32) bounds(%x_bounds) -> !llvm.ptr {implicit = true, name = "x"}
// CHECK:         %y_dev = acc.copyin varPtr(%y : !llvm.ptr) varType(f32) bounds(%y_bounds) -> !llvm.ptr {dataClause = #acc<data_clause acc_copy>, implicit = true, name = "y"}
// CHECK:         acc.parallel dataOperands(%x_dev, %y_dev : !llvm.ptr, !llvm.ptr) {
// CHECK:           llvm.getelementptr inbounds %x_dev
// CHECK:           llvm.getelementptr inbounds %y_dev
// CHECK:         acc.copyout accPtr(%y_dev : !llvm.ptr) bounds(%y_bounds) to varPtr(%y : !llvm.ptr)
// CHECK-NEXT:    acc.delete accPtr(%x_dev : !llvm.ptr) bounds(%x_bounds)
llvm.func @sections(%n: i32, %x: !llvm.ptr, %y: !llvm.ptr) {
  %c1 = arith.constant 1 : i32
  %c0 = arith.constant 0 : i32
  acc.parallel {
    acc.loop control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      %i64 = arith.extsi %i : i32 to i64
      %p = llvm.getelementptr inbounds %x[%i64] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %q = llvm.getelementptr inbounds %y[%i64] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %v = llvm.load %p : !llvm.ptr -> f32
      llvm.store %v, %q : f32, !llvm.ptr
      acc.yield
    } attributes {independent = [#acc.device_type<none>], inclusiveUpperbound = array<i1: false>}
    acc.yield
  }
  llvm.return
}

// A global array is copied whole, a scalar that is only read is a value, a reduction scalar is copied and the
// loop's reduction names the device copy; the bound read from a global moves out for the section.
// CHECK-LABEL: llvm.func @variables
// CHECK:         %table = llvm.mlir.addressof @table
// CHECK:         %n{{.*}} = llvm.load %limit : !llvm.ptr -> i32
// CHECK:         %s_dev = acc.copyin varPtr(%s : !llvm.ptr) varType(f32) -> !llvm.ptr {accx.cell, dataClause = #acc<data_clause acc_copy>, implicit = true, name = "s"}
// CHECK:         acc.copyin varPtr(%table : !llvm.ptr) varType(!llvm.array<16 x f32>) -> !llvm.ptr {implicit = true, name = "table"}
// CHECK:         acc.copyin varPtr(%{{.*}} : !llvm.ptr) varType(f32) bounds(%
// CHECK:         acc.parallel
// CHECK:           acc.reduction varPtr(%s_dev : !llvm.ptr)
llvm.func @variables(%x: !llvm.ptr) {
  %c1 = arith.constant 1 : i32
  %c0 = arith.constant 0 : i32
  %s = llvm.alloca %c1 x f32 : (i32) -> !llvm.ptr
  acc.parallel {
    %t = llvm.mlir.addressof @table : !llvm.ptr
    %l = llvm.mlir.addressof @limit : !llvm.ptr
    %n = llvm.load %l : !llvm.ptr -> i32
    %r = acc.reduction varPtr(%s : !llvm.ptr) varType(f32) -> !llvm.ptr {name = "s"}
    acc.loop reduction(%r : !llvm.ptr) control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      %i64 = arith.extsi %i : i32 to i64
      %p = llvm.getelementptr inbounds %t[%i64] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %v = llvm.load %p : !llvm.ptr -> f32
      llvm.store %v, %r : f32, !llvm.ptr
      %q = llvm.getelementptr inbounds %x[%i64] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      llvm.store %v, %q : f32, !llvm.ptr
      acc.yield
    } attributes {independent = [#acc.device_type<none>], inclusiveUpperbound = array<i1: false>}
    acc.yield
  }
  llvm.return
}

// A visible data construct: present. Indirect subscripts: present too.
// CHECK-LABEL: llvm.func @visible
// CHECK:         acc.data
// CHECK:           acc.present varPtr(%{{.*}} : !llvm.ptr) varType(f32) -> !llvm.ptr {implicit = true, name = "x"}
// CHECK:           acc.present varPtr(%indirect : !llvm.ptr)
llvm.func @visible(%n: i32, %x: !llvm.ptr, %indirect: !llvm.ptr) {
  %c1 = arith.constant 1 : i32
  %c0 = arith.constant 0 : i32
  %d = acc.create varPtr(%x : !llvm.ptr) varType(f32) -> !llvm.ptr {name = "x"}
  acc.data dataOperands(%d : !llvm.ptr) {
    acc.parallel {
      acc.loop control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
        %i64 = arith.extsi %i : i32 to i64
        %p = llvm.getelementptr inbounds %x[%i64] : (!llvm.ptr, i64) -> !llvm.ptr, i32
        %k = llvm.load %p : !llvm.ptr -> i32
        %k64 = arith.extsi %k : i32 to i64
        %q = llvm.getelementptr inbounds %indirect[%k64] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %v = llvm.load %q : !llvm.ptr -> f32
        acc.yield
      } attributes {independent = [#acc.device_type<none>], inclusiveUpperbound = array<i1: false>}
      acc.yield
    }
    acc.terminator
  }
  llvm.return
}
