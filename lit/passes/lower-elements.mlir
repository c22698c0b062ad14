// RUN: accopt %s -p lower-elements --split-input-file | filecheck %s

// Rows of a variable-length array are stepped over in bytes; a subscript is widened once, by its sign.
// CHECK-LABEL: @rows
// CHECK:         %[[I:.*]] = arith.extsi %i : i32 to i64
// CHECK-NEXT:    %[[C:.*]] = arith.constant 8 : i64
// CHECK-NEXT:    %[[BYTES:.*]] = arith.muli %m, %[[C]] overflow<nsw> : i64
// CHECK-NEXT:    %[[AT:.*]] = arith.muli %[[I]], %[[BYTES]] overflow<nsw> : i64
// CHECK-NEXT:    %[[ROW:.*]] = llvm.getelementptr inbounds %a[%[[AT]]] : (!llvm.ptr, i64) -> !llvm.ptr, i8
// CHECK-NEXT:    %[[U:.*]] = arith.extui %u : i32 to i64
// CHECK-NEXT:    llvm.getelementptr inbounds %[[ROW]][%[[U]]] : (!llvm.ptr, i64) -> !llvm.ptr, f64
// CHECK-NEXT:    llvm.return
llvm.func @rows(%a: !llvm.ptr, %i: i32, %u: i32, %m: i64) {
  %x = accx.element %a[%i, %u] rows(%m) of f64 : i32, ui32
  llvm.return
}
// -----
// What elements of a block have in common is computed once, and what others have by themselves.
// CHECK-LABEL: @shared
// CHECK:         %[[ROW:.*]] = llvm.getelementptr inbounds %a[%{{.*}}] : (!llvm.ptr, i64) -> !llvm.ptr, i8
// CHECK:         llvm.getelementptr inbounds %[[ROW]][%{{.*}}] : (!llvm.ptr, i64) -> !llvm.ptr, f64
// CHECK-NEXT:    %[[J:.*]] = arith.extsi %j : i32 to i64
// CHECK-NEXT:    llvm.getelementptr inbounds %[[ROW]][%[[J]]] : (!llvm.ptr, i64) -> !llvm.ptr, f64
// CHECK-NEXT:    %[[B:.*]] = arith.muli
// CHECK-NEXT:    llvm.getelementptr inbounds %a[%[[B]]] : (!llvm.ptr, i64) -> !llvm.ptr, i8
// CHECK-NEXT:    scf.if
// CHECK:           llvm.getelementptr inbounds %a[%{{.*}}] : (!llvm.ptr, i64) -> !llvm.ptr, i8
llvm.func @shared(%a: !llvm.ptr, %i: i32, %j: i32, %m: i64, %c: i1) {
  %x = accx.element %a[%i, %i] rows(%m) of f64 : i32, i32
  %y = accx.element %a[%i, %j] rows(%m) of f64 : i32, i32
  %z = accx.element %a[%i] rows(%m) of f64 : i32
  %w = accx.element %a[%j] rows(%m) of f64 : i32
  scf.if %c {
    %v = accx.element %a[%i] rows(%m) of f64 : i32
  }
  llvm.return
}
// -----
// Arrays of constant lengths and members are stepped over by type; 0 before a member is the structure itself.
// CHECK-LABEL: @members
// CHECK-NEXT:    %[[V:.*]] = llvm.getelementptr inbounds %p[0, 1] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(i32, !llvm.array<4 x f32>)>
// CHECK-NEXT:    %[[K:.*]] = arith.trunci %k : i128 to i64
// CHECK-NEXT:    llvm.getelementptr inbounds %[[V]][%[[K]]] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-NEXT:    %[[TWO:.*]] = arith.constant 2 : i64
// CHECK-NEXT:    %[[S:.*]] = llvm.getelementptr inbounds %p[%[[TWO]]] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.struct<
// CHECK-NEXT:    llvm.getelementptr inbounds %[[S]][0, 0] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<
llvm.func @members(%p: !llvm.ptr, %k: i128) {
  %x = accx.element %p[0, 1, %k] of !llvm.struct<(i32, !llvm.array<4 x f32>)> : i128
  %y = accx.element %p[2, 0] of !llvm.struct<(i32, !llvm.array<4 x f32>)>
  llvm.return
}
