// RUN: accopt %s -p "move-large-locals{limit=8000}" | filecheck %s
// RUN: accopt %s -p move-large-locals | filecheck %s --check-prefix=SMALL

// SMALL-NOT: malloc

// Arrays of constant size that together exceed the limit move, except small ones and those with a large alignment.
// CHECK-LABEL: llvm.func @constant_3_host
// CHECK: %a = llvm.call @malloc(
// CHECK: %b = llvm.call @malloc(
// CHECK: %scalar = llvm.alloca
// CHECK: %aligned = llvm.alloca
// CHECK: llvm.call @free(%a)
// CHECK: llvm.call @free(%b)
// CHECK: llvm.return
llvm.func @constant_3_host(%begin: i64, %end: i64, %gangs: i64, %args: !llvm.ptr) attributes {accx.kernel} {
  %one = arith.constant 1 : i32
  %a = llvm.alloca %one x !llvm.array<600 x f64> {alignment = 8 : i64} : (i32) -> !llvm.ptr
  %b = llvm.alloca %one x !llvm.array<600 x f64> {alignment = 8 : i64} : (i32) -> !llvm.ptr
  %scalar = llvm.alloca %one x f64 : (i32) -> !llvm.ptr
  %aligned = llvm.alloca %one x !llvm.array<600 x f64> {alignment = 64 : i64} : (i32) -> !llvm.ptr
  llvm.return
}

// CHECK-LABEL: llvm.func @small_3_host
// CHECK-NOT: malloc
llvm.func @small_3_host(%begin: i64, %end: i64, %gangs: i64, %args: !llvm.ptr) attributes {accx.kernel} {
  %one = arith.constant 1 : i32
  %a = llvm.alloca %one x !llvm.array<600 x f64> {alignment = 8 : i64} : (i32) -> !llvm.ptr
  llvm.return
}

// Arrays of variable length: where the declaration is, by their size; both returns free.
// CHECK-LABEL: llvm.func @variable.acc_device
// CHECK: %large = llvm.alloca
// CHECK: llvm.store %{{.*}}, %large
// CHECK: scf.for
// CHECK: %is_large = arith.cmpi ugt, %bytes
// CHECK: %w = scf.if %is_large -> (!llvm.ptr)
// CHECK: llvm.load %large
// CHECK: llvm.call @realloc(
// CHECK: llvm.store %{{.*}}, %large
// CHECK: } else {
// CHECK: llvm.alloca %n x f64
// CHECK: llvm.store %x, %w
// CHECK: llvm.call @free(
// CHECK: llvm.return
llvm.func @variable.acc_device(%n: i64, %x: f64) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  scf.for %i = %zero to %n step %one : i64 {
    %stack = llvm.intr.stacksave : !llvm.ptr
    %w = llvm.alloca %n x f64 {alignment = 8 : i64} : (i64) -> !llvm.ptr
    llvm.store %x, %w : f64, !llvm.ptr
    llvm.intr.stackrestore %stack : !llvm.ptr
  }
  llvm.return
}

// Host code has a large stack.
// CHECK-LABEL: llvm.func @host
// CHECK-NOT: malloc
llvm.func @host() {
  %one = arith.constant 1 : i32
  %a = llvm.alloca %one x !llvm.array<6000 x f64> {alignment = 8 : i64} : (i32) -> !llvm.ptr
  llvm.return
}
