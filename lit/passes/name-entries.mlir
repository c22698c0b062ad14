// RUN: accopt %s -p name-entries | filecheck %s

// A function that takes a structure, its entry, a call within the program, and its address.
builtin.module {
  llvm.func @length(%p : !llvm.struct<(f32, f32)>) -> f32 {
    %x = llvm.extractvalue %p[0] : !llvm.struct<(f32, f32)>
    llvm.return %x : f32
  }
  llvm.func @length.entry(%p : f64) -> f32 attributes {accx.entry = "length"} {
    %v = llvm.mlir.undef : !llvm.struct<(f32, f32)>
    %r = llvm.call @length(%v) : (!llvm.struct<(f32, f32)>) -> f32
    llvm.return %r : f32
  }
  // The name that it gets may be taken.
  llvm.func internal @length.by_value() {
    llvm.return
  }
  llvm.func @user() -> !llvm.ptr {
    %v = llvm.mlir.undef : !llvm.struct<(f32, f32)>
    %r = llvm.call @length(%v) : (!llvm.struct<(f32, f32)>) -> f32
    llvm.call @length.by_value() : () -> ()
    %a = llvm.mlir.addressof @length.entry : !llvm.ptr
    llvm.return %a : !llvm.ptr
  }
  // A function of the program with the name of a library function that passes know.
  llvm.func @round.1(%x : f64) -> f64 attributes {accx.entry = "round"} {
    %r = llvm.call @round.1(%x) : (f64) -> f64
    llvm.return %r : f64
  }
}

// CHECK:      llvm.func internal @length.by_value.1({{.*}}: !llvm.struct<(f32, f32)>) -> f32 {
// CHECK:      llvm.func @length({{.*}}: f64) -> f32 {
// CHECK:      llvm.call @length.by_value.1
// CHECK:      llvm.func internal @length.by_value()
// CHECK:      llvm.func @user
// CHECK:      llvm.call @length.by_value.1(
// CHECK:      llvm.call @length.by_value()
// CHECK:      llvm.mlir.addressof @length : !llvm.ptr
// CHECK:      llvm.func @round({{.*}}: f64) -> f64 {
// CHECK-NEXT:   llvm.call @round(
