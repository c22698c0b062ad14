// RUN: accopt %s --split-input-file --verify-diagnostics | filecheck %s

// CHECK-LABEL: @good
// CHECK-NEXT: accx.element %a[%i, -1, %u] rows(%m, %m) of f64 : i32, ui32
// CHECK-NEXT: accx.element %a[3] of i32
// CHECK-NEXT: accx.element %t[%i] of f32 : !llvm.ptr<3>, i32
llvm.func @good(%a: !llvm.ptr, %t: !llvm.ptr<3>, %i: i32, %u: i32, %m: i64) {
  %0 = accx.element %a[%i, -1, %u] rows(%m, %m) of f64 : i32, ui32
  %1 = accx.element %a[3] of i32
  %2 = accx.element %t[%i] of f32 : !llvm.ptr<3>, i32
  llvm.return
}
// -----
// CHECK: subscript 2 is one too many: f64 has none
llvm.func @deep(%a: !llvm.ptr, %i: i32, %m: i64) {
  %0 = accx.element %a[%i, %i, %i] rows(%m) of f64 : i32, i32, i32
  llvm.return
}
// -----
// CHECK: subscript 1 selects no member of !llvm.struct<(i32)>: write a constant below 1
llvm.func @member(%a: !llvm.ptr, %i: i32) {
  %0 = accx.element %a[%i, %i] of !llvm.struct<(i32)> : i32, i32
  llvm.return
}
// -----
// CHECK: expected a subscript
llvm.func @none(%a: !llvm.ptr) {
  %0 = accx.element %a[] of f32
  llvm.return
}
